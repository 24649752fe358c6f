import Foundation
import ProviderKit
import Testing

@testable import HostRuntime
@testable import ProviderHost

@Suite("New provider")
struct NewProviderTests {
    /// A folder that does not exist yet.
    private let folder = NSTemporaryDirectory() + "phnew-" + UUID().uuidString

    private func removed() { try? FileManager.default.removeItem(atPath: folder) }

    @Test(
        "The module is named after the last part of the identifier",
        arguments: [
            ("com.example.tunnel", "TunnelProvider"), ("com.example.my-tunnel", "MyTunnelProvider"),
            ("org.acme.provider", "Provider"), ("org.acme.9p", "Tunnel9pProvider"), ("a.b--c", "BCProvider"),
        ])
    func moduleName(_ identifier: String, _ expected: String) {
        #expect(ProviderPackage.moduleName(for: identifier) == expected)
    }

    @Test(
        "An identifier that is not valid is refused before anything is written",
        arguments: ["tunnel", "a..b", "a/b.c", ""])
    func badIdentifier(_ identifier: String) {
        let capture = Capture()
        #expect(capture.run("new-provider", "--", identifier, folder) == .usage)
        #expect(capture.errors.contains("reverse-DNS"))
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test("A folder that is not empty, or a file, is refused and left alone")
    func occupied() throws {
        defer { removed() }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder + "/mine"))
        for target in [folder, folder + "/mine"] {
            let capture = Capture()
            #expect(capture.run("new-provider", "com.example.tunnel", target) == .usage)
            #expect(capture.errors.contains("no empty folder"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["mine"])
    }

    @Test("A folder without ProviderKit is refused by name")
    func noProviderKit() {
        let capture = Capture()
        #expect(capture.run("new-provider", "com.example.tunnel", folder, "--provider-kit", "/usr") == .notFound)
        #expect(capture.errors.contains("/usr is not ProviderKit"))
        #expect(throws: NewProviderError.self) {
            try ProviderKitLocation(requested: nil, executable: "/usr/bin/providerhost")
        }
    }

    @Test("The manifest that is written passes the host's own checks")
    func manifest() throws {
        defer { removed() }
        let capture = Capture()
        #expect(capture.run("new-provider", "com.example.my-tunnel", folder) == .success, "\(capture.errors)")
        let path = folder + "/Sources/MyTunnelProvider/com.example.my-tunnel.bundle/Info.plist"
        let manifest = try BundleManifest(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
        #expect(manifest.identifier == "com.example.my-tunnel")
        #expect(manifest.executableName == "libMyTunnelProvider.so")
        #expect(capture.output.contains("PROVIDERHOST_BUNDLE_PATH=.build/debug"))
    }

    @Test("A path with quotes and backslashes is one Swift string")
    func quoting() {
        #expect(ProviderPackage.quoted(#"/a"b\c"#) == #"/a\"b\\c"#)
    }
}

/// Builds a package, which takes a minute: `swift test --skip GeneratedPackage` leaves it out.
@Suite("Generated package", .serialized)
struct GeneratedPackageTests {
    @Test("It builds, its tests pass, and the host lists its bundle", .timeLimit(.minutes(10)))
    func buildsAndTests() throws {
        let folder = NSTemporaryDirectory() + "phnew-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let capture = Capture()
        #expect(capture.run("new-provider", "com.example.tunnel", folder) == .success, "\(capture.errors)")
        for verb in ["build", "test"] {
            let outcome = try swift(verb, in: folder)
            #expect(outcome.status == 0, "swift \(verb): \(outcome.output)")
            if verb == "test" { #expect(outcome.output.contains("4 tests")) }
        }
        let build = folder + "/.build/debug"
        let index = BundleIndex(searching: BundleSearchPath(standard: [], requested: [build]))
        #expect(index.refused.isEmpty)
        let bundle = try index.bundle("com.example.tunnel")
        #expect(bundle.executablePath == build + "/libTunnelProvider.so")
    }

    /// Runs the package manager without the variables that the test run itself has set.
    private func swift(_ verb: String, in folder: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", verb, "--package-path", folder]
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWIFT_TESTING") }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
