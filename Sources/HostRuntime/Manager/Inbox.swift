private import Synchronization

/// Carries items from any thread to the thread of a loop.
final class Inbox<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var isClosed = false
    }

    /// Rings when there are items.
    let bell: Bell
    private let state = Mutex(State())

    init() throws(SystemCallError) { bell = try Bell() }

    /// Puts an item in.
    ///
    /// - Returns: False once the inbox is closed: nobody reads the item.
    @discardableResult
    func put(_ item: Item) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.items.append(item)
            return true
        }
        if isTaken { bell.ring() }
        return isTaken
    }

    /// Takes the items out, in order.
    func take() -> [Item] {
        bell.silence()
        return state.withLock { state in
            defer { state.items = [] }
            return state.items
        }
    }

    /// Refuses items from now on and returns those that were not taken.
    func close() -> [Item] {
        state.withLock { state in
            state.isClosed = true
            defer { state.items = [] }
            return state.items
        }
    }
}
