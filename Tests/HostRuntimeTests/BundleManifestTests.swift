import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

/// A manifest that is wrong in one place, and the error of that place.
struct BadManifest: Sendable, CustomTestStringConvertible {
    let what: String
    let bytes: [UInt8]
    let code: BundleErrorCode
    let names: String

    init(_ what: String, _ code: BundleErrorCode, names: String, _ change: (inout Manifest) -> Void) {
        var manifest = Manifest()
        change(&manifest)
        (self.what, self.code, self.names, bytes) = (what, code, names, manifest.bytes)
    }

    init(_ what: String, _ code: BundleErrorCode, names: String, text: String) {
        (self.what, self.code, self.names, bytes) = (what, code, names, Array(text.utf8))
    }

    var testDescription: String { what }

    static let all: [BadManifest] = [
        .init("empty", .manifestMalformed, names: "Info.plist", text: ""),
        .init("no property list", .manifestMalformed, names: "Info.plist", text: "<html></html>"),
        .init("cut off", .manifestMalformed, names: "Info.plist", text: "<plist version=\"1.0\"><dict><key>a"),
        .init("old text form", .manifestMalformed, names: "XML", text: "{ CFBundleIdentifier = x; }"),
        .init("binary form", .manifestMalformed, names: "XML", text: "bplist00"),
        .init("an array", .manifestMalformed, names: "dictionary", text: "<plist version=\"1.0\"><array/></plist>"),
        .init(
            "deeper than the limit", .manifestMalformed, names: "64",
            text: "<plist version=\"1.0\">" + String(repeating: "<array>", count: 100)
                + String(repeating: "</array>", count: 100) + "</plist>"),
        .init(
            "deeper than the stack", .manifestMalformed, names: "nested",
            text: "<plist version=\"1.0\">" + String(repeating: "<array>", count: 4000)
                + String(repeating: "</array>", count: 4000) + "</plist>"),
        .init("a date", .manifestMalformed, names: "value") {
            $0.more = "<key>d</key><date>2020-01-01T00:00:00Z</date>"
        },
        .init(
            "an identifier that is missing", .identifierInvalid, names: "CFBundleIdentifier",
            text: "<plist version=\"1.0\"><dict/></plist>"),
        .init("an identifier of one label", .identifierInvalid, names: "tunnel") { $0.identifier = "tunnel" },
        .init("an identifier with an empty label", .identifierInvalid, names: "a..b") { $0.identifier = "a..b" },
        .init("an identifier with a slash", .identifierInvalid, names: "a.b/c") { $0.identifier = "a.b/c" },
        .init("an identifier with an underscore", .identifierInvalid, names: "a.b_c") { $0.identifier = "a.b_c" },
        .init("an identifier that is no ASCII", .identifierInvalid, names: "a.ü") { $0.identifier = "a.ü" },
        .init("an identifier of 156 bytes", .identifierInvalid, names: "CFBundleIdentifier") {
            $0.identifier = "a." + String(repeating: "b", count: 154)
        },
        .init("another extension point", .extensionPointInvalid, names: "app-proxy") {
            $0.point = "<key>NSExtensionPointIdentifier</key><string>com.apple.networkextension.app-proxy</string>"
        },
        .init("no extension point", .extensionPointInvalid, names: "NSExtensionPointIdentifier") { $0.point = "" },
        .init("no principal class", .principalClassInvalid, names: "NSExtensionPrincipalClass") { $0.principal = "" },
        .init("an empty principal class", .principalClassInvalid, names: "NSExtensionPrincipalClass") {
            $0.principal = "<key>NSExtensionPrincipalClass</key><string></string>"
        },
        .init("no contract version", .contractVersionMismatch, names: "PHContractVersion") { $0.contract = "" },
        .init("another contract version", .contractVersionMismatch, names: "`2`") {
            $0.contract = "<key>PHContractVersion</key><string>2</string>"
        },
        .init("a contract version that is a number", .contractVersionMismatch, names: "no string") {
            $0.contract = "<key>PHContractVersion</key><integer>1</integer>"
        },
        .init("a control socket folder with a slash", .controlSocketDirectoryInvalid, names: "a/b") {
            $0.more = "<key>PHControlSocketDirectory</key><string>a/b</string>"
        },
        .init("a control socket folder above /var/run", .controlSocketDirectoryInvalid, names: "..") {
            $0.more = "<key>PHControlSocketDirectory</key><string>..</string>"
        },
        .init("a control socket folder of 65 bytes", .controlSocketDirectoryInvalid, names: "aaaa") {
            $0.more = "<key>PHControlSocketDirectory</key><string>\(String(repeating: "a", count: 65))</string>"
        },
        .init("a control socket folder that is no text", .controlSocketDirectoryInvalid, names: "PHControl") {
            $0.more = "<key>PHControlSocketDirectory</key><true/>"
        },
        .init("no executable", .executableNameInvalid, names: "CFBundleExecutable") { $0.executable = "" },
        .init("an executable with a folder", .executableNameInvalid, names: "lib/x.so") {
            $0.executable = "<key>CFBundleExecutable</key><string>lib/x.so</string>"
        },
        .init("an executable above the bundle", .executableNameInvalid, names: "..") {
            $0.executable = "<key>CFBundleExecutable</key><string>..</string>"
        },
        .init("an empty executable", .executableNameInvalid, names: "CFBundleExecutable") {
            $0.executable = "<key>CFBundleExecutable</key><string></string>"
        },
        .init("an answer about counters that is no truth value", .manifestMalformed, names: "PHAnswersCounters") {
            $0.more = "<key>PHAnswersCounters</key><string>yes</string>"
        },
        .init("a name that is no string", .manifestMalformed, names: "CFBundleName") {
            $0.more = "<key>CFBundleName</key><true/>"
        },
    ]
}

@Suite("Bundle manifests")
struct BundleManifestTests {
    @Test("A complete manifest gives its values")
    func complete() throws {
        var manifest = Manifest()
        manifest.more =
            "<key>CFBundleName</key><string>Tunnel</string><key>CFBundleShortVersionString</key><string>1.2</string>"
            + "<key>PHAnswersCounters</key><true/>"
        let parsed = try BundleManifest(parsing: manifest.bytes)
        #expect(parsed.identifier == "com.example.tunnel")
        #expect(parsed.executableName == "libTunnel.so")
        #expect(parsed.principalClass == "Tunnel.Tunnel")
        #expect(parsed.name == "Tunnel")
        #expect(parsed.version == "1.2")
        #expect(parsed.answersCounters)
    }

    @Test("Name and version may be left out; a byte order mark may stand in front")
    func optionalKeys() throws {
        let parsed = try BundleManifest(parsing: [0xEF, 0xBB, 0xBF] + Manifest().bytes)
        #expect(parsed.name == "com.example.tunnel")
        #expect(parsed.version == nil && !parsed.answersCounters)
    }

    @Test("Every fault has its own error that names the key or the value", arguments: BadManifest.all)
    func fault(_ bad: BadManifest) throws {
        let error = try #require(throws: BundleError.self) { try BundleManifest(parsing: bad.bytes) }
        #expect(error.code == bad.code, "\(error)")
        #expect(error.description.contains(bad.names), "\(error)")
        #expect(!error.remedy.isEmpty)
    }

    @Test("A manifest of 64 KiB is read, one byte more is refused")
    func size() throws {
        let bytes = Manifest().bytes
        let full = bytes + [UInt8](repeating: 0x0A, count: BundleManifest.maximumBytes - bytes.count)
        #expect(throws: Never.self) { try BundleManifest(parsing: full) }
        let error = try #require(throws: BundleError.self) { try BundleManifest(parsing: full + [0x0A]) }
        #expect(error.code == .manifestTooLarge)
    }

    @Test("An error never carries control characters or a long value into a line")
    func hostileText() throws {
        var manifest = Manifest()
        manifest.contract =
            "<key>PHContractVersion</key><string>\u{85}\nline\t\(String(repeating: "x", count: 5000))</string>"
        let error = try #require(throws: BundleError.self) { try BundleManifest(parsing: manifest.bytes) }
        #expect(error.cause.utf8.count < 400)
        #expect(!error.cause.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x85 })
    }

    @Test("Manifests with one byte changed are parsed or refused, never worse")
    func mutations() {
        let bytes = Manifest().bytes
        var generator = SystemRandomNumberGenerator()
        for position in bytes.indices {
            var changed = bytes
            changed[position] = UInt8.random(in: 0...255, using: &generator)
            do throws(BundleError) { _ = try BundleManifest(parsing: changed) } catch { #expect(!error.cause.isEmpty) }
        }
    }

    @Test("Every code has a text of its own")
    func texts() {
        let codes = BundleErrorCode.allCases
        #expect(Set(codes.map(\.cause)).count == codes.count)
        #expect(codes.allSatisfy { !$0.remedy.isEmpty })
    }
}
