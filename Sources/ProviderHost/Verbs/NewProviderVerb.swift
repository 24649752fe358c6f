internal import HostRuntime
internal import ProviderKit

/// `new-provider`: writes a package that builds, tests and runs at once.
enum NewProviderVerb {
    static let command = Command(
        name: "new-provider", summary: "Write a Swift package with a provider, its bundle and its tests.",
        positionals: [.init(name: "ID"), .init(name: "DIR")],
        options: [
            .init(
                name: "provider-kit", value: "PATH",
                summary: "The checkout's Sources/ProviderKit; that of this executable's checkout else.")
        ],
        discussion: """
            ID is the bundle identifier, such as com.example.tunnel. DIR is made, or is an empty folder.
            """
    ) { arguments, console in
        let identifier = arguments.positionals[0]
        let folder = arguments.positionals[1]
        let kit = try ProviderKitLocation(requested: arguments.values["provider-kit"])
        let package = try ProviderPackage(identifier: identifier, providerKit: kit)
        try package.write(to: folder)
        console.print(
            """
            Wrote \(package.moduleName) to \(folder.printable). Next:
              cd \(folder.printable)
              swift build && swift test
              sudo env \(BundleSearchPath.environmentKey)=.build/debug \(BundleSearchPath.runningExecutable) run --bundle-id \(identifier)
            """)
        return .success
    }
}

/// Why a package is not written.
enum NewProviderErrorCode: Int, TunnelErrorCode, CaseIterable {
    case identifierInvalid = 1
    case folderNotEmpty = 2
    case providerKitMissing = 3
    case writeFailed = 4

    static var domain: String { "ProviderHostNewProviderErrorDomain" }

    var cause: String {
        switch self {
        case .identifierInvalid: "The bundle identifier is not valid."
        case .folderNotEmpty: "The folder is not empty."
        case .providerKitMissing: "ProviderKit was not found."
        case .writeFailed: "The package could not be written."
        }
    }

    var remedy: String {
        switch self {
        case .identifierInvalid:
            "Use reverse-DNS form such as com.example.tunnel: letters, digits, `-` and `.`, at most 155 bytes."
        case .folderNotEmpty: "Give an empty folder, or one that does not exist."
        case .providerKitMissing: "Name the folder Sources/ProviderKit of a checkout with --provider-kit PATH."
        case .writeFailed: "Check the folder's permissions and the free space, remove what was written, and try again."
        }
    }
}

/// A package that is not written, and why.
typealias NewProviderError = CodedError<NewProviderErrorCode>
