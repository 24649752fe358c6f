import GatewayRegistry
import PacketPath
import ProviderKit
import Synchronization
import WireGuardProvider

/// The thread that has the registry's file, so that no handshake waits for a disk.
final class RegistryKeeper: Sendable {
    /// How often the file is looked at.
    private static let interval: Int64 = 1_000_000_000

    private struct State {
        var notes = GatewayNotes()
        /// What the control plane has not taken yet.
        var fresh: RegistryContents?
        var isEnding = false
    }

    private let state = Mutex(State())
    private let event: EventDescriptor
    private let thread = Mutex<DataThread?>(nil)
    private let log: @Sendable (LogLevel, String) -> Void

    /// Makes a keeper that does not run yet.
    ///
    /// - Throws: ``PathError`` when the system gives no descriptor.
    init(log: @escaping @Sendable (LogLevel, String) -> Void) throws(PathError) {
        event = try EventDescriptor()
        self.log = log
    }

    /// Starts the thread; call once.
    ///
    /// - Parameters:
    ///   - book: The file.
    ///   - changed: Called on the thread whenever ``takeContents()`` has something.
    /// - Throws: ``PathError`` when the system gives no thread.
    func start(_ book: consuming RegistryBook, changed: @escaping @Sendable () -> Void) throws(PathError) {
        let owned = Handover(book)
        let started = try DataThread("gw-registry") { [self] in
            guard let book = owned.take() else { return }
            run(book, changed)
        }
        thread.withLock { $0 = started }
    }

    /// Writes everything and ends the thread; later calls do nothing.
    func stop() {
        state.withLock { $0.isEnding = true }
        event.signal()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }

    /// Takes notes; they are written soon.
    func put(_ notes: GatewayNotes) {
        state.withLock { $0.notes.merge(notes) }
        if notes.areUrgent { event.signal() }
    }

    /// What the file holds, if that has changed since the last call.
    func takeContents() -> RegistryContents? {
        state.withLock { state in
            defer { state.fresh = nil }
            return state.fresh
        }
    }

    private func run(_ book: consuming RegistryBook, _ changed: @Sendable () -> Void) {
        var poller = Poller()
        poller.add(event.descriptor)
        var known = book.contents
        var isFailing = false
        while true {
            if poller.wait(nanoseconds: Self.interval) { event.clear() }
            let (notes, isEnding) = state.withLock { state in
                defer { state.notes = GatewayNotes() }
                return (state.notes, state.isEnding)
            }
            do throws(RegistryError) {
                try book.synchronize(notes, now: WallClock.seconds, isLast: isEnding)
                isFailing = false
            } catch {
                if !isFailing { log(.error, "\(error.cause) Peers are served as they were.") }
                isFailing = true
            }
            if isEnding { return }
            guard book.contents != known else { continue }
            let contents = book.contents
            known = contents
            state.withLock { $0.fresh = contents }
            changed()
        }
    }
}
