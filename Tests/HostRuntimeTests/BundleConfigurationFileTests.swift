import Foundation
import Glibc
import ProviderKit
import Testing

@testable import HostRuntime

@Suite("Configuration files")
struct BundleConfigurationFileTests {
    private func refusal(_ path: String) throws -> ConfigurationFileError {
        try #require(throws: ConfigurationFileError.self) { try ConfigurationFile(path: path) }
    }

    @Test("Any other file is handed over as text with its name")
    func text() throws {
        let scratch = try BundleScratch()
        let path = scratch.path + "/office.conf"
        try scratch.write(Array("[Interface]\nPrivateKey = abc\n".utf8), to: "office.conf")
        try scratch.setMode(0o600, "office.conf")
        let file = try ConfigurationFile(path: path)
        #expect(
            file.providerConfiguration == [
                TunnelProviderProtocol.configurationFileKey: .string(path),
                TunnelProviderProtocol.configurationTextKey: "[Interface]\nPrivateKey = abc\n",
            ])
        #expect(file.warning == nil)
    }

    @Test(
        "A private key that everybody may read gives a warning",
        arguments: [
            ("PrivateKey = x", true), ("  privatekey=x", true), ("\tPRIVATEKEY\t= x\r", true), ("PrivateKey", false),
            ("# PrivateKey = x", false), ("PublicKey = x", false), ("", false),
        ])
    func worldReadable(_ line: String, _ warns: Bool) throws {
        let scratch = try BundleScratch()
        try scratch.write(Array("[Interface]\n\(line)\n".utf8), to: "a.conf")
        let warning = try ConfigurationFile(path: scratch.path + "/a.conf").warning
        #expect((warning != nil) == warns)
        try scratch.setMode(0o640, "a.conf")
        #expect(try ConfigurationFile(path: scratch.path + "/a.conf").warning == nil)
    }

    @Test("A property list and a JSON object become the configuration itself, with their kinds kept")
    func structured() throws {
        let scratch = try BundleScratch()
        try scratch.write(
            Array(
                """
                <plist version="1.0"><dict><key>s</key><string>x</string><key>i</key><integer>1</integer>
                <key>r</key><real>1</real><key>b</key><true/><key>d</key><data>AAEC</data>
                <key>a</key><array><integer>0</integer><false/></array></dict></plist>
                """.utf8), to: "a.plist")
        #expect(
            try ConfigurationFile(path: scratch.path + "/a.plist").providerConfiguration == [
                "s": "x", "i": 1, "r": .real(1), "b": true, "d": .data([0, 1, 2]), "a": .array([0, false]),
            ])
        try scratch.write(Array(#"{"s":"x","i":1,"r":1.5,"b":true,"o":{"z":[0,false]}}"#.utf8), to: "a.json")
        #expect(
            try ConfigurationFile(path: scratch.path + "/a.json").providerConfiguration == [
                "s": "x", "i": 1, "r": .real(1.5), "b": true, "o": .dictionary(["z": .array([0, false])]),
            ])
    }

    @Test(
        "A structured file that cannot be parsed is refused",
        arguments: [
            ("a.json", "{"), ("a.json", "[1]"), ("a.json", "1"), ("a.json", #"{"n":null}"#),
            ("a.json", #"{"n":18446744073709551615}"#), ("a.json", ""), ("a.plist", "{ a = b; }"), ("a.plist", ""),
            ("a.plist", "<plist version=\"1.0\"><string>x</string></plist>"),
            ("a.json", #"{"a":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}"),
            ("a.json", String(repeating: "[", count: 100_000)),
        ])
    func malformed(_ name: String, _ text: String) throws {
        let scratch = try BundleScratch()
        try scratch.write(Array(text.utf8), to: name)
        let error = try refusal(scratch.path + "/" + name)
        #expect(error.code == .malformed, "\(error)")
        #expect(error.cause.contains(name))
    }

    @Test("What is no readable text file of at most 16 MiB is refused with its own error")
    func refusals() throws {
        let scratch = try BundleScratch()
        #expect(try refusal("").code == .notFound)
        #expect(try refusal(scratch.path + "/missing.conf").code == .notFound)
        #expect(try refusal(scratch.path).code == .notRegularFile)
        #expect(try refusal(scratch.path).cause.contains("a folder"))
        #expect(try refusal("/dev/zero").code == .notRegularFile)
        let made = unsafe mkfifo(scratch.path + "/pipe", 0o600)
        try #require(made == 0)
        #expect(try refusal(scratch.path + "/pipe").code == .notRegularFile)
        try scratch.write([0x61, 0xFF], to: "latin.conf")
        #expect(try refusal(scratch.path + "/latin.conf").code == .notText)
        try scratch.write([0x61, 0], to: "nul.conf")
        #expect(try refusal(scratch.path + "/nul.conf").code == .notText)
        let limit = ConfigurationFile.maximumBytes
        try scratch.write([UInt8](repeating: 0x23, count: limit), to: "full.conf")
        #expect(throws: Never.self) { try ConfigurationFile(path: scratch.path + "/full.conf") }
        try scratch.write([UInt8](repeating: 0x23, count: limit + 1), to: "large.conf")
        #expect(try refusal(scratch.path + "/large.conf").code == .tooLarge)
    }

    @Test("A link to a configuration is followed")
    func link() throws {
        let scratch = try BundleScratch()
        try scratch.write(Array("a".utf8), to: "real.conf")
        try scratch.link("linked.conf", to: "real.conf")
        #expect(throws: Never.self) { try ConfigurationFile(path: scratch.path + "/linked.conf") }
    }
}
