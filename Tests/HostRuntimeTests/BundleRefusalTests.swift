import Foundation
import Glibc
import ProviderKit
import Testing

@testable import HostRuntime

private let isRoot = geteuid() == 0

/// What is done to an acceptable bundle, and the refusal that follows.
struct Tampering: Sendable, CustomTestStringConvertible {
    let what: String
    let code: BundleErrorCode
    /// The path that the error must name, relative to the scratch folder.
    let path: String
    let act: @Sendable (borrowing BundleScratch) throws -> Void

    var testDescription: String { what }

    private static let bundle = "com.example.tunnel.bundle"
    private static let manifest = bundle + "/Info.plist"
    private static let library = bundle + "/libTunnel.so"

    static let byAnybody: [Tampering] = [
        .init(what: "no Info.plist", code: .manifestMissing, path: bundle) { try $0.remove(manifest) },
        .init(what: "a large Info.plist", code: .manifestTooLarge, path: manifest) {
            try $0.write([UInt8](repeating: 0x20, count: 65_537), to: manifest)
        },
        .init(what: "no library", code: .executableMissing, path: "libTunnel.so") { try $0.remove(library) },
        .init(what: "Info.plist is a link", code: .symbolicLink, path: manifest) {
            try $0.remove(manifest)
            try $0.write(Manifest().bytes, to: "elsewhere")
            try $0.link(manifest, to: $0.path + "/elsewhere")
        },
        .init(what: "the library is a link", code: .symbolicLink, path: library) {
            try $0.remove(library)
            try $0.link(library, to: "/bin/true")
        },
        .init(what: "the library is a link to nothing", code: .symbolicLink, path: library) {
            try $0.remove(library)
            try $0.link(library, to: "nowhere")
        },
        .init(what: "the bundle is a link", code: .symbolicLink, path: bundle) {
            try FileManager.default.moveItem(atPath: $0.path + "/" + bundle, toPath: $0.path + "/real")
            try $0.link(bundle, to: $0.path + "/real")
        },
        .init(what: "Info.plist is a folder", code: .notRegularFile, path: manifest) {
            try $0.remove(manifest)
            try $0.write([], to: manifest + "/x")
        },
        .init(what: "Info.plist is a pipe", code: .notRegularFile, path: manifest) {
            try $0.remove(manifest)
            let made = unsafe mkfifo($0.path + "/" + manifest, 0o644)
            try #require(made == 0)
        },
        .init(what: "the library is a pipe", code: .notRegularFile, path: library) {
            try $0.remove(library)
            let made = unsafe mkfifo($0.path + "/" + library, 0o644)
            try #require(made == 0)
        },
        .init(what: "the bundle is a file", code: .notFolder, path: bundle) {
            try $0.remove(bundle)
            try $0.write([], to: bundle)
        },
        .init(what: "others may write Info.plist", code: .writableByOthers, path: manifest) {
            try $0.setMode(0o666, manifest)
        },
        .init(what: "the group may write the library", code: .writableByOthers, path: library) {
            try $0.setMode(0o664, library)
        },
        .init(what: "others may write the bundle", code: .writableByOthers, path: bundle) {
            try $0.setMode(0o777, bundle)
        },
    ]

    static let byRoot: [Tampering] = [bundle, manifest, library].map { path in
        .init(what: "another user owns \(path)", code: .ownerNotTrusted, path: path) { try $0.setOwner(65_534, path) }
    }
}

@Suite("Bundle refusals")
struct BundleRefusalTests {
    private func expectRefusal(_ tampering: Tampering) throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.tunnel")
        try scratch.makeBundle("com.example.good")
        #expect(scratch.index().refused.isEmpty)
        try tampering.act(scratch)
        let index = scratch.index()
        #expect(index.bundles.map(\.manifest.identifier) == ["com.example.good"])
        let error = try #require(index.refused.first?.error)
        #expect(index.refused.count == 1)
        #expect(error.code == tampering.code, "\(error)")
        #expect(error.cause.contains(tampering.path), "\(error)")
    }

    @Test("A bundle that was tampered with is refused with the reason", arguments: Tampering.byAnybody)
    func tampered(_ tampering: Tampering) throws { try expectRefusal(tampering) }

    @Test(
        "A file of another user is refused", .enabled(if: isRoot, "needs root to give files away"),
        arguments: Tampering.byRoot)
    func foreign(_ tampering: Tampering) throws { try expectRefusal(tampering) }

    @Test("The caller's own files are accepted", .enabled(if: isRoot, "needs root to give files away"))
    func ownFiles() throws {
        let scratch = try BundleScratch()
        try scratch.makeBundle("com.example.tunnel")
        for path in ["", "/Info.plist", "/libTunnel.so"] {
            try scratch.setOwner(65_534, "com.example.tunnel.bundle" + path)
        }
        #expect(scratch.index(caller: 65_534).bundles.count == 1)
        #expect(scratch.index(caller: 1).refused.map(\.error.code) == [.ownerNotTrusted])
    }

    @Test("A library in a build folder that others may write is refused")
    func openBuildFolder() throws {
        let scratch = try BundleScratch()
        try scratch.write(Manifest().bytes, to: "p_T.resources/com.example.tunnel.bundle/Info.plist")
        try scratch.write([1], to: "libTunnel.so")
        #expect(scratch.index().bundles.count == 1)
        try scratch.setMode(0o777, "")
        #expect(scratch.index().refused.map(\.error.code) == [.writableByOthers])
    }
}
