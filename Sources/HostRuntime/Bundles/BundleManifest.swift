public import ProviderKit

/// What `Info.plist` says about a bundle, checked once: whoever holds a value need not check it again.
public struct BundleManifest: Sendable, Equatable {
    /// The most bytes that an `Info.plist` may have.
    public static let maximumBytes = 65_536
    /// The most bytes of an identifier.
    static let maximumIdentifierBytes = 155
    /// The one extension point that the host serves.
    static let extensionPoint = "com.apple.networkextension.packet-tunnel"

    /// The identifier (`CFBundleIdentifier`) in reverse-DNS form.
    public let identifier: String
    /// The file name of the library (`CFBundleExecutable`), without a folder.
    public let executableName: String
    /// The principal class (`NSExtensionPrincipalClass`), a label: the module's factory makes the object.
    public let principalClass: String
    /// The name for people (`CFBundleName`); the identifier where there is none.
    public let name: String
    /// The version for people (`CFBundleShortVersionString`).
    public let version: String?
    /// The folder below /var/run for the control sockets of its tunnels (`PHControlSocketDirectory`); nil for none.
    public let controlSocketDirectory: String?
    /// Whether its provider answers `PeerCounters.request` (`PHAnswersCounters`).
    public let answersCounters: Bool

    /// Parses the bytes of an `Info.plist` in XML form.
    ///
    /// - Throws: ``BundleError`` that names the key at fault.
    public init(parsing bytes: [UInt8]) throws(BundleError) {
        guard bytes.count <= Self.maximumBytes else { throw BundleError(.manifestTooLarge) }
        let keys: ManifestKeys
        do throws(PropertyListFailure) {
            guard case .dictionary(let values) = try PropertyListReader.xml(bytes) else {
                throw PropertyListFailure(reason: "its top is no dictionary")
            }
            keys = ManifestKeys(values)
        } catch {
            throw BundleError(.manifestMalformed, cause: "Info.plist is not usable: \(error.reason).")
        }

        identifier = try keys.string("CFBundleIdentifier", missing: .identifierInvalid)
        guard Self.isValidIdentifier(identifier) else {
            throw BundleError(
                .identifierInvalid, cause: "CFBundleIdentifier `\(identifier.printable)` is no valid identifier.")
        }

        let `extension` = ManifestKeys(keys.dictionary("NSExtension"))
        let point = try `extension`.string("NSExtensionPointIdentifier", missing: .extensionPointInvalid)
        guard point == Self.extensionPoint else {
            throw BundleError(
                .extensionPointInvalid,
                cause: "NSExtensionPointIdentifier is `\(point.printable)`, which the host does not serve.")
        }
        principalClass = try `extension`.string("NSExtensionPrincipalClass", missing: .principalClassInvalid)
        guard !principalClass.isEmpty else {
            throw BundleError(.principalClassInvalid, cause: "NSExtensionPrincipalClass is empty.")
        }

        let contract = try keys.string("PHContractVersion", missing: .contractVersionMismatch)
        guard contract == ProviderModule.contractVersion else {
            throw BundleError(
                .contractVersionMismatch,
                cause: "PHContractVersion is `\(contract.printable)`, this host has \(ProviderModule.contractVersion).")
        }

        executableName = try keys.string("CFBundleExecutable", missing: .executableNameInvalid)
        guard Self.isPlainFileName(executableName) else {
            throw BundleError(
                .executableNameInvalid,
                cause: "CFBundleExecutable `\(executableName.printable)` is no plain file name.")
        }

        name = try keys.optionalString("CFBundleName") ?? identifier
        version = try keys.optionalString("CFBundleShortVersionString")
        controlSocketDirectory = try keys.optionalString(
            "PHControlSocketDirectory", wrongKind: .controlSocketDirectoryInvalid)
        if let directory = controlSocketDirectory, !Self.isPlainFileName(directory) || directory.utf8.count > 64 {
            throw BundleError(
                .controlSocketDirectoryInvalid,
                cause: "PHControlSocketDirectory `\(directory.printable)` is no plain folder name.")
        }
        answersCounters = try keys.optionalBoolean("PHAnswersCounters") ?? false
    }

    /// Whether `text` is a bundle identifier: two or more labels of `[A-Za-z0-9-]`, joined by dots, at most 155 bytes.
    public static func isValidIdentifier(_ text: String) -> Bool {
        guard text.utf8.count <= maximumIdentifierBytes else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                !label.isEmpty && label.first != UInt8(ascii: "-")
                    && label.allSatisfy { $0 == UInt8(ascii: "-") || $0.isASCIILetterOrDigit }
            }
    }

    /// Whether `text` names a file in a folder and nothing else.
    static func isPlainFileName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && !text.hasPrefix(".") && !text.contains("..")
            && text.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 >= 0x20 && $0 != 0x7F }
    }
}

/// The values of one dictionary of a manifest, with errors that name the key.
private struct ManifestKeys {
    private let values: [String: PropertyListValue]

    init(_ values: [String: PropertyListValue]) { self.values = values }

    func string(_ key: String, missing code: BundleErrorCode) throws(BundleError) -> String {
        guard let value = try optionalString(key, wrongKind: code) else {
            throw BundleError(code, cause: "The key \(key) is missing.")
        }
        return value
    }

    func optionalString(_ key: String, wrongKind code: BundleErrorCode = .manifestMalformed) throws(BundleError)
        -> String?
    {
        guard let value = values[key] else { return nil }
        guard let string = value.stringValue else {
            throw BundleError(code, cause: "The key \(key) holds no string.")
        }
        return string
    }

    func optionalBoolean(_ key: String) throws(BundleError) -> Bool? {
        guard let value = values[key] else { return nil }
        guard let boolean = value.booleanValue else {
            throw BundleError(.manifestMalformed, cause: "The key \(key) holds neither true nor false.")
        }
        return boolean
    }

    func dictionary(_ key: String) -> [String: PropertyListValue] {
        guard case .dictionary(let inner) = values[key] else { return [:] }
        return inner
    }
}

extension UInt8 {
    /// Whether the byte is one of `[A-Za-z0-9]`.
    var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
