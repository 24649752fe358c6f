internal import Glibc
public import ProviderKit

/// The file given with `--config`: read with the caller's rights, checked, and turned into a provider's configuration.
public struct ConfigurationFile: Sendable, Equatable {
    /// The most bytes of a configuration file.
    public static let maximumBytes = 16 << 20

    /// What the provider is given.
    public let providerConfiguration: [String: PropertyListValue]
    /// Something that works but should be put right; one line.
    public let warning: String?

    /// Reads a file.
    ///
    /// A `.plist` or `.json` file whose top is a dictionary becomes the provider's configuration itself; any other file
    /// is handed over as text under ``TunnelProviderProtocol/configurationTextKey`` with its name under
    /// ``TunnelProviderProtocol/configurationFileKey``.
    ///
    /// - Parameter path: The path, relative ones to the current folder.
    /// - Throws: ``ConfigurationFileError``.
    public init(path: String) throws(ConfigurationFileError) {
        let name = path.printable
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ConfigurationFileError(.notFound, cause: "The configuration file has no usable name.")
        }
        let file: OpenFile
        do { file = try OpenFile.file(path, followingLinks: true) } catch { throw Self.refusal(name, error) }
        guard file.kind == .file else {
            throw ConfigurationFileError(
                .notRegularFile,
                cause: "The configuration \(name) is \(file.kind == .folder ? "a folder" : "no regular file").")
        }
        let contents: [UInt8]?
        do { contents = try file.read(atMost: Self.maximumBytes) } catch { throw Self.refusal(name, error) }
        guard let bytes = contents else {
            throw ConfigurationFileError(
                .tooLarge, cause: "The configuration \(name) has more than \(Self.maximumBytes) bytes.")
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw ConfigurationFileError(.notText, cause: "The configuration \(name) is no UTF-8 text.")
        }
        providerConfiguration = try Self.configuration(path: path, bytes: bytes, text: text)
        warning =
            file.permissions & 0o004 != 0 && Self.holdsPrivateKey(text)
            ? "\(name) holds a PrivateKey and everybody may read it. Take the permission away: chmod o-r \(name)" : nil
    }

    private static func configuration(
        path: String, bytes: [UInt8], text: String
    ) throws(ConfigurationFileError) -> [String: PropertyListValue] {
        let parsed: PropertyListValue
        do throws(PropertyListFailure) {
            if path.hasSuffix(".plist") {
                parsed = try PropertyListReader.xml(bytes)
            } else if path.hasSuffix(".json") {
                parsed = try PropertyListReader.json(bytes)
            } else {
                return [
                    TunnelProviderProtocol.configurationFileKey: .string(path),
                    TunnelProviderProtocol.configurationTextKey: .string(text),
                ]
            }
        } catch {
            throw ConfigurationFileError(
                .malformed, cause: "The configuration \(path.printable) cannot be parsed: \(error.reason).")
        }
        guard case .dictionary(let values) = parsed else {
            throw ConfigurationFileError(
                .malformed, cause: "The top of the configuration \(path.printable) is no dictionary.")
        }
        return values
    }

    /// Whether a line sets a private key, as `wg` and `wg-quick` files do.
    private static func holdsPrivateKey(_ text: String) -> Bool {
        text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            let key = line.prefix { $0 != UInt8(ascii: "=") }.filter { $0 != 0x20 && $0 != 0x09 }
            return key.count < line.count && String(decoding: key, as: UTF8.self).lowercased() == "privatekey"
        }
    }

    private static func refusal(_ name: String, _ failure: OpenFile.Failure) -> ConfigurationFileError {
        switch failure.code {
        case ENOENT, ENOTDIR:
            ConfigurationFileError(.notFound, cause: "There is no configuration file \(name).")
        case EACCES, EPERM:
            ConfigurationFileError(.unreadable, cause: "You may not read the configuration \(name).")
        case ENXIO, ENODEV:
            ConfigurationFileError(.notRegularFile, cause: "The configuration \(name) is no regular file.")
        default:
            ConfigurationFileError(
                .unreadable, cause: "The configuration \(name) cannot be read: \(failure.reason).")
        }
    }
}

/// Why a configuration file is not usable.
public enum ConfigurationFileErrorCode: Int, TunnelErrorCode, CaseIterable {
    case notFound = 1
    case unreadable = 2
    case notRegularFile = 3
    case tooLarge = 4
    case notText = 5
    case malformed = 6

    public static var domain: String { "ProviderHostConfigurationFileErrorDomain" }

    public var cause: String {
        switch self {
        case .notFound: "There is no such configuration file."
        case .unreadable: "The configuration file cannot be read."
        case .notRegularFile: "The configuration is no regular file."
        case .tooLarge: "The configuration file is too large."
        case .notText: "The configuration file is no UTF-8 text."
        case .malformed: "The configuration file cannot be parsed."
        }
    }

    public var remedy: String {
        switch self {
        case .notFound: "Check the path given with --config."
        case .unreadable: "Check its owner and permissions, or run as a user who may read it."
        case .notRegularFile: "Give the path of a regular file with --config."
        case .tooLarge: "Check that it is the file you mean."
        case .notText: "Save it as UTF-8 text."
        case .malformed: "Correct it; a .plist is in XML form, and the top of a .plist or .json is a dictionary."
        }
    }
}

/// A configuration file that is not usable, and why.
public typealias ConfigurationFileError = CodedError<ConfigurationFileErrorCode>
