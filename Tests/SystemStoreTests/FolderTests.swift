import Foundation
import ProviderKit
import Testing

@testable import SystemStore

@Suite struct FolderTests {
    private let scratch = Scratch()

    private func make(_ permissions: Int) throws {
        try FileManager.default.createDirectory(atPath: scratch.folder.path, withIntermediateDirectories: false)
        // createDirectory's attributes are subject to the umask.
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: scratch.folder.path)
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func theEnvironmentNamesTheFolder() {
        let own = ["PROVIDERHOST_STATE_DIR": "/a/", "STATE_DIRECTORY": "/b:/c"]
        #expect(StateFolder(environment: own).path == "/a")
        #expect(StateFolder(environment: ["PROVIDERHOST_STATE_DIR": "", "STATE_DIRECTORY": "/b:/c"]).path == "/b")
        #expect(StateFolder(environment: [:]).path == "/var/lib/providerhost")
    }

    @Test func everythingIsItsOwnersAlone() throws {
        try make(0o755)
        let store = try scratch.open()
        _ = try store.perform { try $0.save(.tunnel(), of: .office) }
        #expect(try permissions(scratch.folder.path) == 0o700)
        #expect(
            try scratch.names == ["device.key", "store.lock", "store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
        for name in try scratch.names { #expect(try permissions(scratch.path(name)) == 0o600, "\(name)") }
    }

    @Test func providersHaveFoldersOfTheirOwn() throws {
        let folder = StateFolder(path: scratch.folder.path)
        let path = try folder.prepareProviderFolder("com.example.tunnel")
        #expect(path == folder.path + "/providers/com.example.tunnel")
        #expect(try folder.prepareProviderFolder("com.example.tunnel") == path)
        for made in [folder.path, folder.path + "/providers", path] { #expect(try permissions(made) == 0o700) }
        for bad in ["", ".", "..", "../x", "a/b", ".hidden"] {
            #expect(throws: StoreError.self, "\(bad)") { try folder.prepareProviderFolder(bad) }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: path)
        #expect(throws: StoreError.self) { try folder.prepareProviderFolder("com.example.tunnel") }
    }

    @Test func aFolderThatOthersMayWriteIsRefused() throws {
        try make(0o777)
        let error = try #require(throws: StoreError.self) { _ = try scratch.open() }
        #expect(error.code == .folderUnusable && error.remedy.contains("chmod 700"))
        #expect(try scratch.names.isEmpty)
    }

    @Test func whatIsNoFolderIsRefused() throws {
        let error = try #require(throws: StoreError.self) {
            _ = try SystemStore(folder: StateFolder(path: scratch.folder.path + "/above/it"))
        }
        #expect(error.code == .folderUnusable)
        #expect(FileManager.default.createFile(atPath: scratch.folder.path, contents: nil))
        #expect(try #require(throws: StoreError.self) { _ = try scratch.open() }.cause.contains("no folder"))
    }
}
