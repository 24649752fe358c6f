import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

@Suite("Bundle index")
struct BundleIndexTests {
    @Test("Flat bundles, bundles with Contents and resources of SwiftPM are found with their libraries")
    func layouts() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.flat")
        let contents = "com.example.deep.bundle/Contents"
        try scratch.write(Manifest(identifier: "com.example.deep").bytes, to: contents + "/Info.plist")
        try scratch.write([1], to: contents + "/Linux/libTunnel.so")
        let resources = ["a_A.resources/com.example.copied.bundle", "b_B.resources/Bundles/com.example.listed.bundle"]
        for (bundle, identifier) in zip(resources, ["com.example.copied", "com.example.listed"]) {
            try scratch.write(Manifest(identifier: identifier).bytes, to: bundle + "/Info.plist")
        }
        try scratch.write([1], to: "libTunnel.so")
        let index = scratch.index()
        #expect(index.refused.isEmpty, "\(index.refused)")
        #expect(
            index.bundles.map(\.manifest.identifier) == [
                "com.example.copied", "com.example.deep", "com.example.flat", "com.example.listed",
            ])
        #expect(
            index.bundles.map { $0.executablePath.dropFirst(scratch.path.count) } == [
                "/libTunnel.so", "/\(contents)/Linux/libTunnel.so", "/com.example.flat.bundle/libTunnel.so",
                "/libTunnel.so",
            ])
    }

    @Test("A flat bundle does not take its library from the folder around it")
    func libraryOutside() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.tunnel")
        try scratch.remove("com.example.tunnel.bundle/libTunnel.so")
        try scratch.write([1], to: "libTunnel.so")
        #expect(scratch.index().refused.map(\.error.code) == [.executableMissing])
    }

    @Test("A refused bundle hides no other, and asking for it gives its own error")
    func refusedBesideGood() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.good")
        try scratch.makeBundle("com.example.open")
        try scratch.setMode(0o666, "com.example.open.bundle/libTunnel.so")
        try scratch.write(Array("nonsense".utf8), to: "com.example.broken.bundle/Info.plist")
        let index = scratch.index()
        #expect(index.bundles.map(\.manifest.identifier) == ["com.example.good"])
        #expect(index.refused.map(\.error.code) == [.manifestMalformed, .writableByOthers])
        let error = try #require(throws: BundleError.self) { try index.bundle("com.example.open") }
        #expect(error.code == .writableByOthers)
    }

    @Test("Two bundles of one identifier are both refused, each error names both")
    func duplicates() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.tunnel", name: "first")
        try scratch.makeBundle("com.example.tunnel", name: "second")
        try scratch.makeBundle("com.example.other")
        let index = scratch.index()
        #expect(index.bundles.map(\.manifest.identifier) == ["com.example.other"])
        #expect(index.refused.map(\.error.code) == [.duplicateIdentifier, .duplicateIdentifier])
        for refusal in index.refused {
            #expect(refusal.error.cause.contains("first.bundle") && refusal.error.cause.contains("second.bundle"))
        }
    }

    @Test("One folder that is searched twice, also by a link to it, makes no duplicates")
    func sameFolderTwice() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.tunnel", in: "real")
        try scratch.link("linked", to: scratch.path + "/real")
        let index = BundleIndex(
            searching: BundleSearchPath(
                standard: [scratch.path + "/real"], requested: [scratch.path + "/linked", scratch.path + "/real/"]))
        #expect(index.bundles.count == 1)
        #expect(index.refused.isEmpty)
    }

    @Test("A folder of the environment that is not there is reported, a standard one is not")
    func missingFolders() throws {
        let index = BundleIndex(
            searching: BundleSearchPath(standard: ["/nonexistent/a"], requested: ["/nonexistent/b"]))
        #expect(index.refused.map(\.path) == ["/nonexistent/b"])
        #expect(index.refused.first?.error.cause.contains("PROVIDERHOST_BUNDLE_PATH") == true)
    }

    @Test("An unknown identifier is named with the closest installed ones")
    func unknown() throws {
        let scratch = try BundleScratch()
        for name in ["org.providerhost.wireguard", "org.providerhost.loopback", "com.example.other", "com.a.b"] {
            try scratch.makeBundle(name)
        }
        let error = try #require(throws: BundleError.self) { try scratch.index().bundle("org.providerhost.wiregaurd") }
        #expect(error.code == .unknownIdentifier)
        #expect(error.cause.contains("org.providerhost.wiregaurd"))
        #expect(error.remedy.contains("org.providerhost.wireguard, org.providerhost.loopback"))
        #expect(!error.remedy.contains("com.a.b"))
    }

    @Test("With nothing installed the error says where was searched")
    func nothingInstalled() throws {
        let scratch = try BundleScratch()
        let error = try #require(throws: BundleError.self) { try scratch.index().bundle("com.example.tunnel") }
        #expect(error.code == .unknownIdentifier)
        #expect(error.remedy.contains(scratch.path))
    }

    @Test("The search path is the executable's folder, the environment's folders, the install folders")
    func searchPath() {
        let path = BundleSearchPath(
            executable: "/opt/ph/bin/providerhost", environment: [BundleSearchPath.environmentKey: "a::/b"])
        #expect(
            path.ordered.map(\.path) == [
                "/opt/ph/bin", "a", "/b", "/usr/lib/providerhost/bundles", "/opt/ph/lib/providerhost/bundles",
            ])
    }
}

@Suite("Suggestions")
struct BundleSuggestionTests {
    @Test(
        "The edit distance counts insertions, removals, replacements and swaps",
        arguments: [
            ("", "", 0), ("abc", "", 3), ("", "ab", 2), ("run", "rnu", 1), ("kitten", "sitting", 3), ("ab", "ba", 1),
        ])
    func distance(_ first: String, _ second: String, _ expected: Int) {
        #expect(Suggestion.editDistance(first, second) == expected)
        #expect(Suggestion.editDistance(second, first) == expected)
    }

    @Test("A text of any length is answered at once")
    func longText() {
        let text = String(repeating: "x", count: 1 << 20)
        #expect(Suggestion.closest(to: text, in: ["abc", "xyz"], limit: 1) == ["xyz"])
        #expect(Suggestion.closest(to: text, in: ["abc", "xyz"], limit: 1, within: 3).isEmpty)
    }
}
