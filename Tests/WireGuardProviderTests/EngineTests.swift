import Glibc
import PacketPath
import Synchronization
import Testing
import WireGuard

@testable import WireGuardProvider

/// Two engines in one process, joined by loopback UDP; datagram socket pairs stand in for their TUN devices.
@Suite("Two engines")
struct EngineTests {
    private func key(_ seed: UInt8) -> PrivateKey {
        PrivateKey(Key256(words: SIMD4(repeating: UInt64(seed) &* 0x0101_0101)))
    }

    private func start(_ end: EngineEnd, own: UInt8, peer: UInt8, address: Int, endpoint: UInt16?) throws {
        let endpointLine = endpoint.map { "Endpoint = 127.0.0.1:\($0)\n" } ?? ""
        let configuration = try Configuration(
            wgQuick: """
                [Interface]
                PrivateKey = \(key(own).base64)
                [Peer]
                PublicKey = \(key(peer).publicKey.base64)
                AllowedIPs = 10.0.0.\(address)/32
                \(endpointLine)
                """)
        var endpoints: [PublicKey: Endpoint] = [:]
        for peer in configuration.peers {
            guard case .address(let endpoint)? = peer.endpoint else { continue }
            endpoints[peer.publicKey] = endpoint
        }
        try end.engine.start(configuration, endpoints: endpoints)
    }

    /// A UDP packet between two addresses of 10.0.0.0/24.
    private func packet(_ from: UInt8, _ to: UInt8, payload: Int, mark: UInt8) -> [UInt8] {
        let length = 28 + payload
        var bytes: [UInt8] = [
            0x45, 0, UInt8(length >> 8), UInt8(length & 255), 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to,
        ]
        var sum = stride(from: 0, to: 20, by: 2).reduce(0) { $0 + Int(bytes[$1]) << 8 + Int(bytes[$1 + 1]) }
        sum = (sum & 0xffff) + sum >> 16
        bytes[10] = UInt8(~sum >> 8 & 255)
        bytes[11] = UInt8(~sum & 255)
        bytes += [0, 7, 0, 9, UInt8((8 + payload) >> 8), UInt8((8 + payload) & 255), 0, 0]
        return bytes + [UInt8](repeating: mark, count: payload)
    }

    @Test("Packets that wait for the handshake arrive first and in order, then both ways of every size")
    func traffic() throws {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        for number in 0..<20 { left.send(packet(1, 2, payload: 100 + number, mark: UInt8(number))) }
        for number in 0..<20 {
            #expect(right.receive() == packet(1, 2, payload: 100 + number, mark: UInt8(number)))
        }
        for payload in [0, 1, 3, 4, 15, 16, 17, 1000, 1391, 1392] {
            let answer = packet(2, 1, payload: payload, mark: 0x5a)
            right.send(answer)
            #expect(left.receive() == answer)
        }
    }

    /// A UDP packet of as many times 1,000 bytes as it has segments, each of which begins with its number.
    private func numbered(from first: Int, segments: Int) -> [UInt8] {
        var bytes = packet(1, 2, payload: segments * 1000, mark: 0x33)
        for segment in 0..<segments {
            for place in 0..<4 {
                bytes[28 + segment * 1000 + place] = UInt8(truncatingIfNeeded: (first + segment) >> (24 - 8 * place))
            }
        }
        return bytes
    }

    @Test(
        "Four threads each way keep the order of a peer's packets, plain and super-packets in turn",
        .timeLimit(.minutes(1)))
    func order() throws {
        let (left, right) = (try EngineEnd(threads: 4), try EngineEnd(threads: 4))
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        left.send(packet(1, 2, payload: 4, mark: 0))
        #expect(right.receive() != nil)

        var (sent, received, turn) = (0, 0, 0)
        while received < 20_000 {
            // A window, so that no queue on the way overflows.
            while sent - received < 30 {
                let segments = [1, 1, 30, 1, 7, 40][turn % 6]
                left.send(numbered(from: sent, segments: segments), segmentSize: segments > 1 ? 1000 : 0)
                sent += segments
                turn += 1
            }
            let packet = try #require(right.receive(), "packet \(received) did not come")
            let number = packet[28..<32].reduce(0) { $0 << 8 | Int($1) }
            try #require(number == received && packet.count == 1028)
            received += 1
        }
        left.engine.stop()
        right.engine.stop()
        let drops = (
            left.engine.statistics.withLock { $0.drops.total }, right.engine.statistics.withLock { $0.drops.total }
        )
        #expect(drops == (0, 0))
    }

    @Test("A source that is not the peer's and a destination without a route are dropped and counted")
    func cryptokeyRouting() throws {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        left.send(packet(1, 9, payload: 10, mark: 0))  // no route to 10.0.0.9
        left.send(packet(7, 2, payload: 10, mark: 1))  // 10.0.0.7 is not the left end's
        left.send(packet(1, 2, payload: 10, mark: 2))
        #expect(right.receive() == packet(1, 2, payload: 10, mark: 2))
        left.engine.stop()
        right.engine.stop()
        let (routeless, spoofed) = (
            left.engine.statistics.withLock { $0.drops[.noRoute] },
            right.engine.statistics.withLock { $0.drops[.sourceNotAllowed] }
        )
        #expect(routeless == 1 && spoofed == 1)
    }

    /// Floods an engine with handshakes whose first MAC is for a name, and has a new peer come after a while.
    ///
    /// - Returns: How many messages were sent, and what the engine dropped.
    private func joinDuringFlood(
        of name: PublicKey, after microseconds: UInt32
    ) throws -> (sent: UInt64, statistics: EngineStatistics) {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        let flood = try Flood(to: right.port, of: name)
        usleep(microseconds)
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        left.send(packet(1, 2, payload: 100, mark: 1))
        let arrived = right.receive()
        let sent = flood.stop()
        #expect(arrived == packet(1, 2, payload: 100, mark: 1))
        right.engine.stop()
        return (UInt64(sent), right.engine.statistics.withLock { $0 })
    }

    @Test("While 65,536 sources flood it with handshakes, an engine answers a new peer within two seconds")
    func flood() throws {
        let (sent, statistics) = try joinDuringFlood(of: key(2).publicKey, after: 3_000_000)
        let drops = statistics.drops
        // Under load most are sent back for a cookie or find the queue full; all are counted.
        #expect(drops[.cookieRequired] > 0 && drops.total <= sent + 9)
        #expect(drops.total >= sent * 9 / 10, "\(sent) sent")
    }

    @Test("Handshakes with a wrong first MAC do not get as far as the control thread")
    func misaddressed() throws {
        let (sent, statistics) = try joinDuringFlood(of: key(3).publicKey, after: 200_000)
        let received = statistics.receive
        #expect(received[.badFirstMAC] > 0 && received[.badFirstMAC] == received.total - received[.socketOverflow])
        #expect(received.total <= sent && received.total >= sent * 9 / 10)
        #expect(statistics.control.total == 0)
    }

    @Test("The peers' status tells endpoint and traffic; a stopped engine says so")
    func inquiry() throws {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        left.send(packet(1, 2, payload: 10, mark: 2))
        #expect(right.receive() != nil)
        let listing = try #require(right.engine.list())
        let statuses = try #require(right.engine.describe(listing.peers[...]))
        let text = statuses.map { $0.lines(.withoutSecrets) }.joined()
        #expect(listing.privateKey == key(2))
        #expect(text.contains("endpoint=127.0.0.1:\(left.port)\n"))
        #expect(text.contains("rx_bytes=\(148 + 32 + 48)\n"))
        #expect(!text.contains("preshared_key"))
        right.engine.stop()
        #expect(right.engine.list() == nil && right.engine.describe(listing.peers[...]) == nil)
        #expect(!right.engine.apply(ControlSettings(), endpoints: [:]))
    }

    @Test("Settings change peers, keys and allowed IPs of a running engine")
    func settings() throws {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        left.send(packet(1, 2, payload: 10, mark: 1))
        #expect(right.receive() == packet(1, 2, payload: 10, mark: 1))

        // Another key at the left: its old name is taken away at the right, and the new one put in.
        var renamed = ControlSettings()
        renamed.privateKey = .set(key(3))
        #expect(left.engine.apply(renamed, endpoints: [:]))
        var changes = ControlSettings()
        var old = ControlSettings.Peer(key(1).publicKey)
        old.isRemoved = true
        var new = ControlSettings.Peer(key(3).publicKey)
        let prefix = try #require(IPPrefix("10.0.0.0/24"))
        new.allowedIPs = [ControlSettings.AllowedIPChange(prefix: prefix, isRemoval: false)]
        // Our own name, and one that is only to be updated: neither becomes a peer.
        let own = ControlSettings.Peer(key(2).publicKey)
        var absent = ControlSettings.Peer(key(4).publicKey)
        absent.updatesOnly = true
        changes.peers = [old, new, own, absent]
        #expect(right.engine.apply(changes, endpoints: [:]))
        #expect(right.engine.list()?.peers.count == 1)
        left.send(packet(1, 2, payload: 10, mark: 2))
        #expect(right.receive() == packet(1, 2, payload: 10, mark: 2))

        // Without the prefix nothing is delivered.
        new.allowedIPs = [ControlSettings.AllowedIPChange(prefix: prefix, isRemoval: true)]
        changes.peers = [new]
        #expect(right.engine.apply(changes, endpoints: [:]))
        left.send(packet(1, 2, payload: 10, mark: 3))
        new.allowedIPs = [ControlSettings.AllowedIPChange(prefix: prefix, isRemoval: false)]
        changes.peers = [new]
        for _ in 0..<5000 where right.engine.statistics.withLock({ $0.drops[.sourceNotAllowed] }) == 0 {
            Clock.pause(nanoseconds: 1_000_000)
        }
        #expect(right.engine.apply(changes, endpoints: [:]))
        left.send(packet(1, 2, payload: 10, mark: 4))
        #expect(right.receive() == packet(1, 2, payload: 10, mark: 4))
    }

    @Test("Sockets are exchanged under traffic, and an interface that is down sends nothing")
    func sockets() throws {
        let (left, right) = (try EngineEnd(), try EngineEnd())
        try start(left, own: 1, peer: 2, address: 2, endpoint: right.port)
        try start(right, own: 2, peer: 1, address: 1, endpoint: nil)
        for number in 0..<20 {
            let socket = try UDPSocket(family: 4, options: UDPSocket.Options())
            left.engine.replaceSockets(Sockets(ipv4: socket, ipv6: nil))
            left.send(packet(1, 2, payload: 10, mark: UInt8(number)))
            #expect(right.receive() == packet(1, 2, payload: 10, mark: UInt8(number)))
            let peers = try #require(right.engine.list()).peers
            #expect(right.engine.describe(peers[...])?.first?.endpoint?.port == socket.port)
        }
        left.engine.put(.link(isUp: false))
        left.engine.replaceSockets(.none)
        #expect(left.engine.list() != nil)
        // Within 20 ms of the first one, a second initiation of the same peer would count as a flood.
        Clock.pause(nanoseconds: 50_000_000)
        left.engine.replaceSockets(Sockets(ipv4: try UDPSocket(family: 4, options: UDPSocket.Options()), ipv6: nil))
        left.engine.put(.link(isUp: true))
        left.send(packet(1, 2, payload: 10, mark: 99))
        #expect(right.receive() == packet(1, 2, payload: 10, mark: 99))
    }
}
