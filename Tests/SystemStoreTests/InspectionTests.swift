import Foundation
import ProviderKit
import SQLite
import Testing

@testable import SystemStore

@Suite struct InspectionTests {
    private let scratch = Scratch()

    /// Makes a store with one configuration, closed again.
    private func fill() throws {
        _ = try scratch.open().perform { try $0.save(.tunnel(), of: .office) }
    }

    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try scratch.names where !name.hasSuffix("-shm") && !name.hasSuffix("-wal") {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: scratch.path(name)))
        }
        return contents
    }

    @Test func aFolderThatIsNotThereHasNoStore() {
        let folder = StateFolder(path: scratch.folder.path + "-none")
        #expect(StoreInspection(folder) == StoreInspection(.missing))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func aSoundStoreIsToldWithItsVersionAndLeftAsItIs() throws {
        try fill()
        let before = try contents()
        let inspection = StoreInspection(scratch.folder)
        #expect(inspection.condition == .sound(version: StoreSchema.steps.count))
        #expect(!inspection.isKeyMissing && inspection.setAside.isEmpty)
        #expect(abs(Date().timeIntervalSince1970 - Double(inspection.lastWritten ?? 0)) < 60)
        #expect(try contents() == before)
    }

    @Test func aStoreInUseCanBeLookedAt() throws {
        let store = try scratch.open()
        _ = try store.perform { session in
            #expect(StoreInspection(scratch.folder).condition == .sound(version: StoreSchema.steps.count))
            return try session.save(.tunnel(), of: .office)
        }
    }

    @Test func damageIsToldAndNotSetAside() throws {
        try fill()
        try Data(repeating: 0xA5, count: 8_192).write(to: URL(fileURLWithPath: scratch.folder.database))
        let before = try contents()
        guard case .unusable(let error) = StoreInspection(scratch.folder).condition else {
            Issue.record("the damage was not seen")
            return
        }
        #expect(error.code == .damaged)
        #expect(try contents() == before)
        _ = try scratch.open()
        let inspection = StoreInspection(scratch.folder)
        #expect(inspection.condition == .sound(version: StoreSchema.steps.count))
        #expect(inspection.setAside.count == 1 && inspection.setAside[0].contains("store.sqlite.damaged-"))
    }

    @Test func aLaterVersionIsTold() throws {
        try fill()
        try Database(path: scratch.folder.database).setUserVersion(StoreSchema.steps.count + 1)
        guard case .unusable(let error) = StoreInspection(scratch.folder).condition else {
            Issue.record("the version was not seen")
            return
        }
        #expect(error.code == .newerVersion)
    }

    @Test func aFolderThatOthersMayWriteIsTold() throws {
        try fill()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.folder.path)
        guard case .unusable(let error) = StoreInspection(scratch.folder).condition else {
            Issue.record("the permissions were not seen")
            return
        }
        #expect(error.code == .folderUnusable && error.cause.contains("Others may write"))
    }

    @Test func aMissingKeyIsTold() throws {
        try fill()
        try FileManager.default.removeItem(atPath: scratch.folder.deviceKey)
        #expect(StoreInspection(scratch.folder).isKeyMissing)
    }
}
