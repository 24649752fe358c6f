public import ProviderKit

/// Why a bundle is not used, or was not found.
public enum BundleErrorCode: Int, TunnelErrorCode, CaseIterable {
    case unknownIdentifier = 1
    case duplicateIdentifier = 2
    case manifestMissing = 3
    case manifestTooLarge = 4
    case manifestMalformed = 5
    case identifierInvalid = 6
    case extensionPointInvalid = 7
    case principalClassInvalid = 8
    case contractVersionMismatch = 9
    case executableNameInvalid = 10
    case executableMissing = 11
    case symbolicLink = 12
    case notRegularFile = 13
    case notFolder = 14
    case ownerNotTrusted = 15
    case writableByOthers = 16
    case unreadable = 17
    case controlSocketDirectoryInvalid = 18

    public static var domain: String { "ProviderHostBundleErrorDomain" }

    public var cause: String { text.cause }
    public var remedy: String { text.remedy }

    private var text: (cause: String, remedy: String) {
        switch self {
        case .unknownIdentifier:
            ("No bundle with this identifier is installed.", "List the installed ones with `providerhost bundles`.")
        case .duplicateIdentifier:
            ("Two bundles have the same identifier.", "Remove one of them.")
        case .manifestMissing:
            ("The bundle has no Info.plist.", "Put Info.plist at the top of the bundle or into its folder Contents.")
        case .manifestTooLarge:
            ("Info.plist is too large.", "Keep it within 65,536 bytes.")
        case .manifestMalformed:
            ("Info.plist is not an XML property list with a dictionary.", "Check it with `plistutil -i Info.plist`.")
        case .identifierInvalid:
            (
                "CFBundleIdentifier is not valid.",
                "Use reverse-DNS form such as com.example.tunnel: letters, digits, `-` and `.`, at most 155 bytes."
            )
        case .extensionPointInvalid:
            (
                "The bundle is no packet tunnel provider.",
                "Set NSExtension/NSExtensionPointIdentifier to com.apple.networkextension.packet-tunnel."
            )
        case .principalClassInvalid:
            (
                "The bundle names no principal class.",
                "Set NSExtension/NSExtensionPrincipalClass to Module.Class."
            )
        case .contractVersionMismatch:
            (
                "The bundle is made for another version of ProviderKit.",
                "Build it against the ProviderKit of this providerhost and set PHContractVersion to its version."
            )
        case .controlSocketDirectoryInvalid:
            (
                "PHControlSocketDirectory is not valid.",
                "Use the name of one folder, at most 64 bytes; it comes to lie in /var/run."
            )
        case .executableNameInvalid:
            (
                "CFBundleExecutable is not a plain file name.",
                "Name the library alone, without a folder, such as libTunnelProvider.so."
            )
        case .executableMissing:
            ("The library of the bundle is missing.", "Build the provider, or copy the library into the bundle.")
        case .symbolicLink:
            ("A file of the bundle is a symbolic link.", "Put the file itself in its place.")
        case .notRegularFile:
            ("A file of the bundle is no regular file.", "Replace it with a regular file.")
        case .notFolder:
            ("A bundle is a folder, this is none.", "Remove it or rename it.")
        case .ownerNotTrusted:
            ("A file of the bundle belongs to neither root nor the caller.", "Change its owner with chown.")
        case .writableByOthers:
            ("Others may write a file of the bundle.", "Take the permission away with `chmod go-w`.")
        case .unreadable:
            ("A file of the bundle cannot be read.", "Check its permissions.")
        }
    }
}

/// A bundle that is not used, and why.
public typealias BundleError = CodedError<BundleErrorCode>
