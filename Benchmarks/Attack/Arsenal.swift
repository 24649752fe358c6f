import WireGuard

/// A message, and the reason for which it must be dropped; nil for one that must be taken.
struct Shot {
    let bytes: [UInt8]
    let reason: DropReason?
}

/// Makes the messages of one attack, one after the other, on a session of their own.
struct Arsenal {
    /// The counters of packets that are taken, to be replayed.
    private static let replayed: UInt64 = 64
    /// The highest counter of the reordered packets, and the lowest that the window has room for then (RFC 6479).
    private static let top: UInt64 = 1_000_000
    private static let edge = top - 8128

    /// What must be taken before the other messages are what they should be; the first packet confirms the session.
    let preparation: [Shot]

    private let attack: Attack
    private let session: Adversary.Session
    private let misaddressed: [UInt8]
    private var number: UInt64 = 0

    init(_ attack: Attack, of adversary: Adversary) throws {
        self.attack = attack
        let session = try adversary.connect()
        self.session = session
        // What the victim says to us has a first MAC by our key.
        misaddressed = try adversary.strangersInitiation(to: adversary.secret.publicKey)
        let counters: [UInt64] =
            switch attack {
            case .replayed: Array(0..<Self.replayed)
            case .reordered: [0, Self.top]
            default: [0]
            }
        preparation = counters.map { Shot(bytes: session.packet(counter: $0), reason: nil) }
    }

    /// The next message.
    mutating func next() -> Shot {
        defer { number += 1 }
        switch attack {
        case .malformed: return Shot(bytes: malformed(), reason: .malformed)
        case .truncated: return Shot(bytes: truncated(), reason: .malformed)
        case .flipped: return flipped()
        case .replayed:
            return number % 2 == 0
                ? Shot(bytes: session.initiation, reason: .replayedInitiation)
                : Shot(bytes: session.packet(counter: number / 2 % Self.replayed), reason: .replayedCounter)
        case .reordered: return reordered()
        case .reflected: return reflected()
        case .strangers: return Shot(bytes: misaddressed, reason: .badFirstMAC)
        }
    }

    /// A message of each type: genuine, but for the cookie reply, which only a victim under load sends.
    private func message() -> [UInt8] {
        switch number % 4 {
        case 0: session.initiation
        case 1: session.response
        case 2: [3, 0, 0, 0] + Self.noise(60)
        default: session.packet(Self.noise(Int.random(in: 16...1400)), counter: Self.top + number)
        }
    }

    private func malformed() -> [UInt8] {
        switch number % 3 {
        case 0: return [UInt8.random(in: 5...255)] + Self.noise(Int.random(in: 0...1400))
        case 1:
            var message = message()
            message[Int.random(in: 1...3)] = UInt8.random(in: 1...255)
            return message
        default: return Self.noise(Int.random(in: 0..<32))
        }
    }

    private func truncated() -> [UInt8] {
        let message = message()
        // A packet has any length from 32 bytes on.
        guard message[0] != 4 else { return Array(message.prefix(Int.random(in: 1..<32))) }
        return number % 3 == 0 ? message + [0] : Array(message.prefix(Int.random(in: 1..<message.count)))
    }

    private func flipped() -> Shot {
        var message = message()
        // The second MAC is looked at under load only.
        let place = Int.random(in: 0..<(message[0] == 1 || message[0] == 2 ? message.count - 16 : message.count))
        let reason: DropReason =
            switch (place, message[0]) {
            case (0..<4, _): .malformed
            case (_, 1), (_, 2): .badFirstMAC
            case (_, 3), (4..<8, _): .unknownIndex
            default: .authenticationFailed
            }
        message[place] ^= 1 << UInt8.random(in: 0..<8)
        return Shot(bytes: message, reason: reason)
    }

    private func reordered() -> Shot {
        let step = number / 3 % 8128
        switch number % 3 {
        case 0: return Shot(bytes: session.packet(counter: Self.edge + step), reason: nil)
        case 1: return Shot(bytes: session.packet(counter: Self.edge + step), reason: .replayedCounter)
        default: return Shot(bytes: session.packet(counter: Self.edge - 1 - step), reason: .replayedCounter)
        }
    }

    private func reflected() -> Shot {
        switch number % 4 {
        case 0: Shot(bytes: misaddressed, reason: .badFirstMAC)
        case 1: Shot(bytes: session.response, reason: .badFirstMAC)
        case 2: Shot(bytes: [3, 0, 0, 0] + session.ownIndex + Self.noise(56), reason: .unknownIndex)
        default: Shot(bytes: [4, 0, 0, 0] + session.ownIndex + Self.noise(120), reason: .unknownIndex)
        }
    }

    private static func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }
}
