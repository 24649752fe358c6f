internal import ProviderKit

/// The connections to the control socket of a session, each with the time until which its provider has to show life.
///
/// A provider owes an answer from the moment that bytes of the client lie unread, or that it says that it works, and until it
/// says that it waits. One that is silent for longer than ``patience`` loses the connection: no client ever hangs.
struct ControlClients {
    /// How many connections may be open.
    static let limit = 32
    /// How many connections a provider may be given without a word from it.
    static let unansweredLimit = 16
    /// How long a provider may be silent while it owes an answer; a little less than the second that clients are promised.
    static let patience: UInt64 = 900_000_000

    /// One connection.
    struct Client {
        let socket: Descriptor
        let token: UInt64
        /// Nanoseconds of the clock, nil while nothing is owed.
        var deadline: UInt64?
    }

    private(set) var clients: [UInt64: Client] = [:]
    private var unanswered = 0

    /// Whether another connection can be taken on.
    var hasRoom: Bool { clients.count < Self.limit && unanswered < Self.unansweredLimit }

    /// The earliest deadline.
    var nextDeadline: UInt64? { clients.values.compactMap(\.deadline).min() }

    /// Adds a connection that was passed to the provider just now.
    mutating func add(_ id: UInt64, _ socket: Descriptor, token: UInt64, at now: UInt64) {
        clients[id] = Client(socket: socket, token: token, deadline: now + Self.patience)
        unanswered += 1
    }

    /// Notes that bytes came, or that the client went.
    mutating func noteInput(_ id: UInt64, at now: UInt64) {
        if clients[id]?.deadline == nil { clients[id]?.deadline = now + Self.patience }
    }

    /// Notes a word of the provider; the connection is returned when it is over.
    mutating func note(_ activity: ControlConnection.Activity, _ id: UInt64, at now: UInt64) -> Client? {
        unanswered = 0
        guard let client = clients[id] else { return nil }
        switch activity {
        case .working: clients[id]?.deadline = now + Self.patience
        case .waiting:
            // What came since the provider said so still has to be read.
            let hasInput = (try? ChannelSystem.waitToRead(client.socket.number, milliseconds: 0)) ?? true
            clients[id]?.deadline = hasInput ? now + Self.patience : nil
        case .closed: return clients.removeValue(forKey: id)
        }
        return nil
    }

    /// Takes out the connections whose provider was silent for too long.
    mutating func takeOverdue(at now: UInt64) -> [Client] {
        take { $0.deadline.map { $0 <= now } ?? false }
    }

    /// Takes out all connections.
    mutating func takeAll() -> [Client] {
        unanswered = 0
        return take { _ in true }
    }

    private mutating func take(_ condition: (Client) -> Bool) -> [Client] {
        let taken = clients.filter { condition($0.value) }
        for id in taken.keys { clients[id] = nil }
        return Array(taken.values)
    }
}
