internal import Foundation

/// The folders where bundles are searched, in order.
public struct BundleSearchPath: Sendable, Equatable {
    /// The variable with more folders, separated by colons.
    public static let environmentKey = "PROVIDERHOST_BUNDLE_PATH"

    /// The folders that are always searched; one that does not exist is skipped.
    public let standard: [String]
    /// The folders that the environment names; one that cannot be read is reported.
    public let requested: [String]

    /// Names the folders outright.
    public init(standard: [String], requested: [String] = []) {
        self.standard = standard
        self.requested = requested
    }

    /// The folder of the executable, those of the environment, then the install folders.
    ///
    /// - Parameters:
    ///   - executable: The path of the running executable.
    ///   - environment: The variables of the process.
    public init(executable: String, environment: [String: String]) {
        let folder = (executable as NSString).deletingLastPathComponent
        let installed = (folder as NSString).deletingLastPathComponent + "/lib/providerhost/bundles"
        requested = (environment[Self.environmentKey] ?? "").split(separator: ":").map(String.init)
        standard = [folder, "/usr/lib/providerhost/bundles", installed]
    }

    /// The search path of this process.
    public static var current: BundleSearchPath {
        BundleSearchPath(
            executable: runningExecutable, environment: ProcessInfo.processInfo.environment)
    }

    /// The path of the running executable, with links resolved.
    public static var runningExecutable: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments.first ?? "providerhost"
    }

    /// All the folders in the order of search: the executable's own, the requested, the installed.
    var ordered: [(path: String, isRequested: Bool)] {
        standard.prefix(1).map { ($0, false) } + requested.map { ($0, true) }
            + standard.dropFirst().map { ($0, false) }
    }
}
