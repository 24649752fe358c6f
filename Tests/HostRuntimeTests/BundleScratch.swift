import Foundation

@testable import HostRuntime

/// A folder of one test, with bundles in it.
struct BundleScratch: ~Copyable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "phbundles-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try setMode(0o755, "")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The index of this folder alone.
    func index(caller: UInt32? = nil) -> BundleIndex {
        BundleIndex(searching: BundleSearchPath(standard: [path]), caller: caller)
    }

    /// Writes a flat bundle with its library, all of it acceptable.
    func makeBundle(_ identifier: String, in folder: String = "", name: String? = nil) throws {
        let bundle = folder + "/" + (name ?? identifier) + ".bundle"
        try write(Manifest(identifier: identifier).bytes, to: bundle + "/Info.plist")
        try write(Array("library".utf8), to: bundle + "/libTunnel.so")
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let target = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: target))
        try setMode(0o644, name)
    }

    func setMode(_ mode: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/" + name)
    }

    func setOwner(_ user: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: path + "/" + name)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

    func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: destination)
    }
}

/// The text of an `Info.plist`, every part of which a test can replace.
struct Manifest {
    var identifier = "com.example.tunnel"
    var executable = "<key>CFBundleExecutable</key><string>libTunnel.so</string>"
    var point = "<key>NSExtensionPointIdentifier</key><string>com.apple.networkextension.packet-tunnel</string>"
    var principal = "<key>NSExtensionPrincipalClass</key><string>Tunnel.Tunnel</string>"
    var contract = "<key>PHContractVersion</key><string>1</string>"
    var more = ""

    var bytes: [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>\(identifier)</string>
            \(executable)<key>NSExtension</key><dict>\(point)\(principal)</dict>\(contract)\(more)
            </dict></plist>
            """.utf8)
    }
}
