internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// The package that `new-provider` writes; its files are in `ProviderPackage+….swift`.
struct ProviderPackage {
    /// The bundle identifier.
    let identifier: String
    /// The name of the module and of the class in it.
    let moduleName: String
    let providerKit: ProviderKitLocation

    /// Names the module after the last part of the identifier.
    ///
    /// - Throws: ``NewProviderErrorCode/identifierInvalid``.
    init(identifier: String, providerKit: ProviderKitLocation) throws(NewProviderError) {
        guard BundleManifest.isValidIdentifier(identifier) else {
            throw NewProviderError(
                .identifierInvalid, cause: "`\(identifier.printable)` is no valid bundle identifier.")
        }
        self.identifier = identifier
        self.providerKit = providerKit
        moduleName = Self.moduleName(for: identifier)
    }

    /// `com.example.my-tunnel` gives `MyTunnelProvider`.
    static func moduleName(for identifier: String) -> String {
        let last = identifier.split(separator: ".").last ?? ""
        let words = last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = words.joined()
        let start = name.first?.isNumber == true ? "Tunnel" : ""
        return start + name + (name.hasSuffix("Provider") ? "" : "Provider")
    }

    /// Every file by its path in the package.
    var files: [(path: String, contents: String)] {
        [
            ("Package.swift", manifest),
            ("README.md", readme),
            (".gitignore", ".build/\n"),
            ("Sources/\(moduleName)/\(moduleName).swift", providerSource),
            ("Sources/\(moduleName)/\(identifier).bundle/Info.plist", infoPropertyList),
            ("Tests/\(moduleName)Tests/\(moduleName)Tests.swift", testSource),
        ]
    }

    /// Writes the files into a folder that is empty or does not exist.
    ///
    /// - Throws: ``NewProviderError``.
    func write(to folder: String) throws(NewProviderError) {
        let manager = FileManager.default
        if manager.fileExists(atPath: folder), (try? manager.contentsOfDirectory(atPath: folder))?.isEmpty != true {
            throw NewProviderError(.folderNotEmpty, cause: "\(folder.printable) is no empty folder.")
        }
        do {
            for (path, contents) in files {
                let target = folder + "/" + path
                try manager.createDirectory(
                    atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data(contents.utf8).write(to: URL(fileURLWithPath: target), options: .withoutOverwriting)
            }
            // The host refuses bundles that others may write, whatever the umask lets through.
            let bundle = "\(folder)/Sources/\(moduleName)/\(identifier).bundle"
            try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bundle)
            try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bundle + "/Info.plist")
        } catch {
            throw NewProviderError(
                .writeFailed,
                cause: "\(folder.printable) could not be written: \(error.localizedDescription.printable).")
        }
    }
}
