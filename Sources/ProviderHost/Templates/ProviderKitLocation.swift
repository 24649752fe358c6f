internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// Where ProviderKit and ProviderTestKit are: side by side in the `Sources` of a checkout.
struct ProviderKitLocation: Equatable {
    /// The absolute path of the package ProviderKit.
    let providerKit: String
    /// The absolute path of the package ProviderTestKit.
    var testKit: String { (providerKit as NSString).deletingLastPathComponent + "/ProviderTestKit" }

    /// Takes the folder that was asked for, or searches upwards from the executable.
    ///
    /// - Throws: ``NewProviderErrorCode/providerKitMissing``.
    init(requested: String?, executable: String = BundleSearchPath.runningExecutable) throws(NewProviderError) {
        if let requested {
            let path = URL(fileURLWithPath: requested).standardizedFileURL.path
            guard let found = Self(at: path) else {
                throw NewProviderError(
                    .providerKitMissing,
                    cause: "\(path.printable) is not ProviderKit with ProviderTestKit beside it.")
            }
            self = found
            return
        }
        var folder = (executable as NSString).deletingLastPathComponent
        while folder != "/", !folder.isEmpty {
            if let found = Self(at: folder + "/Sources/ProviderKit") {
                self = found
                return
            }
            folder = (folder as NSString).deletingLastPathComponent
        }
        throw NewProviderError(
            .providerKitMissing, cause: "No checkout with Sources/ProviderKit is above \(executable.printable).")
    }

    private init?(at path: String) {
        providerKit = path
        let manifests = [providerKit, testKit].map { $0 + "/Package.swift" }
        guard manifests.allSatisfy(FileManager.default.fileExists(atPath:)) else { return nil }
    }
}
