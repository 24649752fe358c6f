import Testing

@testable import WireGuard

/// Prefixes from their text.
func prefixes(_ texts: String...) throws -> [IPPrefix] {
    try texts.map { try #require(IPPrefix($0)) }
}

/// Two machines on one virtual clock, and the network between them.
final class World {
    let left: Machine
    let right: Machine
    let leftPeer: PeerIndex
    let rightPeer: PeerIndex
    var now = Instant.seconds(1000)
    var random: SplitMix
    /// Chances in a thousand.
    var loss: UInt64 = 0
    var duplication: UInt64 = 0
    /// The longest delay; each datagram has its own, so they overtake each other.
    var delay = TimeSpan.milliseconds(20)
    /// Sees every datagram before the network does; false loses it.
    var filter: (_ bytes: [UInt8], _ isFromLeft: Bool) -> Bool = { _, _ in true }
    private var flying: [(at: Instant, order: Int, bytes: [UInt8], from: Endpoint, isFromLeft: Bool)] = []
    private var order = 0
    private(set) var sent = 0

    static let leftAddress: UInt32 = 0x0a00_0001
    static let rightAddress: UInt32 = 0x0a00_0002

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        let leftKey = PrivateKey(random.key())
        let rightKey = PrivateKey(random.key())
        let leftEndpoint = try #require(Endpoint("192.0.2.1:1000"))
        let rightEndpoint = try #require(Endpoint("[2001:db8::2]:2000"))
        left = Machine(seed: random.next(), key: leftKey, address: leftEndpoint)
        right = Machine(seed: random.next(), key: rightKey, address: rightEndpoint)
        let leftPrefixes = try prefixes("10.0.0.1/32", "fd00::1/128")
        let rightPrefixes = try prefixes("10.0.0.2/32", "fd00::2/128")
        leftPeer = try #require(
            left.add(
                rightKey.publicKey, at: rightEndpoint,
                owning: rightPrefixes, now: now))
        rightPeer = try #require(
            right.add(
                leftKey.publicKey, at: leftEndpoint,
                owning: leftPrefixes, now: now))
    }

    /// An IPv4 packet whose identification makes it unique.
    static func packet(from source: UInt32, to destination: UInt32, id: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0]
        bytes.append(littleEndian: source.byteSwapped)
        bytes.append(littleEndian: destination.byteSwapped)
        bytes.append(littleEndian: UInt64(id))
        bytes.append(littleEndian: UInt32(0x5a5a_5a5a))
        return bytes
    }

    func sendLeft(_ id: UInt32) {
        left.send(Self.packet(from: Self.leftAddress, to: Self.rightAddress, id: id), now: now)
        collect()
    }

    func sendRight(_ id: UInt32) {
        right.send(Self.packet(from: Self.rightAddress, to: Self.leftAddress, id: id), now: now)
        collect()
    }

    func leftGot(_ id: UInt32) -> Bool {
        left.delivered.contains(Self.packet(from: Self.rightAddress, to: Self.leftAddress, id: id))
    }

    func rightGot(_ id: UInt32) -> Bool {
        right.delivered.contains(Self.packet(from: Self.leftAddress, to: Self.rightAddress, id: id))
    }

    /// Puts what both machines sent on the network.
    func collect() {
        take(left, isFromLeft: true)
        take(right, isFromLeft: false)
    }

    private func take(_ machine: Machine, isFromLeft: Bool) {
        for (bytes, _) in machine.outbox {
            sent += 1
            guard filter(bytes, isFromLeft) else { continue }
            for _ in 0..<(random.chance(duplication) ? 2 : 1) where !random.chance(loss) {
                let wait = TimeSpan(nanoseconds: 1000 + random.next() % max(delay.nanoseconds, 1))
                order += 1
                flying.append((now + wait, order, bytes, machine.address, isFromLeft))
            }
        }
        machine.outbox.removeAll()
    }

    /// Lets the clock run to an instant, event by event.
    func run(until end: Instant) {
        collect()
        while true {
            let arrival = flying.indices.min { (flying[$0].at, flying[$0].order) < (flying[$1].at, flying[$1].order) }
            let arrivalTime = arrival.map { flying[$0].at } ?? .distantFuture
            let timer = min(left.device.nextTimeout ?? .distantFuture, right.device.nextTimeout ?? .distantFuture)
            let next = min(arrivalTime, timer)
            guard next <= end else { break }
            now = max(now, next)
            if let arrival, arrivalTime <= timer {
                let datagram = flying.remove(at: arrival)
                let receiver = datagram.isFromLeft ? right : left
                receiver.receive(datagram.bytes, from: datagram.from, now: now)
            } else {
                left.service(now)
                right.service(now)
            }
            collect()
        }
        now = max(now, end)
    }

    func run(seconds: Double) {
        run(until: now + TimeSpan(nanoseconds: UInt64(seconds * 1e9)))
    }
}
