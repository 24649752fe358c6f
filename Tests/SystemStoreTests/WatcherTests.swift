import ProviderKit
import Synchronization
import Testing

@testable import SystemStore

@Suite struct WatcherTests {
    private let scratch = Scratch()

    /// What a watcher was told.
    private final class Told: Sendable {
        private let changes = Mutex<[StoreChange]>([])

        func add(_ change: StoreChange) { changes.withLock { $0.append(change) } }

        func take() -> [StoreChange] {
            changes.withLock { changes in
                defer { changes = [] }
                return changes
            }
        }
    }

    @Test func aWatcherLearnsOfEachChangeOnceItIsThere() throws {
        let store = try scratch.open()
        let told = Told()
        let watcher = store.addWatcher { [told, store] change in
            // The store may be used in a watcher.
            _ = try? store.read { try $0.allConfigurations() }
            told.add(change)
        }
        let saved = try store.perform { try $0.save(.tunnel(), of: .office) }
        let change = ConfigurationChange(
            identifier: saved.identifier, user: 1000, application: "com.example.office", generation: saved.generation)
        #expect(told.take() == [StoreChange(configurations: [change], hasKeychainChanged: false)])

        try store.performOnKeychain { _ = try $0.addItem(.password(), .office) }
        #expect(told.take() == [StoreChange(configurations: [], hasKeychainChanged: true)])

        #expect(throws: VPNError.self) { try store.perform { try $0.save(.tunnel(""), of: .office) } }
        _ = try store.read { try $0.allConfigurations() }
        try store.perform { try $0.setSession(UniqueIdentifier(), of: saved.identifier) }
        #expect(told.take().isEmpty)

        try store.perform { try $0.remove(saved.identifier, of: .office) }
        #expect(told.take().first?.configurations.map(\.generation) == [nil])
        store.removeWatcher(watcher)
        _ = try store.perform { try $0.save(.tunnel(), of: .office) }
        #expect(told.take().isEmpty)
    }

    @Test func anotherProcesssChangeIsNoticed() throws {
        let store = try scratch.open()
        let told = Told()
        _ = store.addWatcher { told.add($0) }
        let saved = try scratch.open().perform { try $0.save(.tunnel(), of: .home) }
        #expect(told.take().isEmpty)
        store.noticeForeignChanges()
        #expect(told.take().first?.configurations.map(\.identifier) == [saved.identifier])
        store.noticeForeignChanges()
        #expect(told.take().isEmpty)
    }
}
