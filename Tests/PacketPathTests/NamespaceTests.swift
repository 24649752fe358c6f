import Glibc
import Testing

@testable import PacketPath

/// One end of a tunnel: its interface, its outer socket, and both paths.
struct TunnelEnd: ~Copyable {
    let tun: TUNDevice
    let socket: UDPSocket
    var transmit: TransmitPath
    var receive: ReceivePath
    private var counter: UInt64 = 0

    init(_ tun: TUNDevice, _ socket: UDPSocket, _ options: PathOptions) throws {
        let backend = AEADBackend.select(options)
        let transmit = try TransmitPath(backend: backend, options: options)
        let receive = try ReceivePath(tun: tun, backend: backend, options: options)
        self.tun = tun
        self.socket = socket
        self.transmit = transmit
        self.receive = receive
    }

    /// Sends all that waits in the TUN, and delivers all that waits in the socket; false when nothing did.
    mutating func turn(to peer: PeerAddress, mtu: Int) throws -> Bool {
        var busy = false
        reading: while true {
            let outcome = transmit.read(from: tun)
            switch outcome {
            case .packet: break
            case .empty: break reading
            case .dropped: continue reading
            case .closed, .failed: throw Failure.tun
            }
            busy = true
            let segments = UInt64(transmit.packet.segmentCount)
            if transmit.isEmpty { transmit.begin(to: peer, from: nil, tag: 1) }
            while transmit.seal(key: testKey(), prefix: 4, firstCounter: counter, mtu: mtu) == .trainFull {
                _ = transmit.flush(to: socket)
            }
            counter += segments
        }
        _ = transmit.flush(to: socket)
        let trains = receive.receive(from: socket)
        guard trains >= 0 else { throw Failure.socket }
        for index in 0..<trains {
            let train = receive.train(index)
            var next = 0
            while next < train.count {
                let run = receive.runLength(of: train, from: next)
                guard run > 0 else { throw Failure.framing }
                receive.open(train, from: next, count: run, key: testKey())
                receive.commit()
                next += run
            }
            busy = true
        }
        receive.flush()
        return busy
    }

    enum Failure: Error { case tun, socket, framing }
}

@Suite("Real interfaces and sockets", .enabled(if: Namespace.isRoot, "needs root"), .serialized)
struct NamespaceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var v6 = false
        var mtu = 1420
        var options = PathOptions()
        var testDescription: String { name }
    }

    static let cases: [Case] = {
        var cases = [
            Case(name: "IPv4"), Case(name: "IPv6", v6: true), Case(name: "MTU 1280", mtu: 1280),
            Case(name: "MTU 9000", v6: true, mtu: 9000), Case(name: "MTU 65000", mtu: 65_000),
        ]
        for (name, path) in [
            ("no TSO", \PathOptions.tunTSO), ("no USO", \.tunUSO), ("no UDP GSO", \.udpGSO), ("no UDP GRO", \.udpGRO),
            ("no wide AEAD", \.wideAEAD),
        ] {
            var one = Case(name: name)
            one.options[keyPath: path] = false
            cases.append(one)
        }
        return cases
    }()

    @Test("TCP crosses two TUN interfaces unchanged", arguments: cases)
    func transfer(_ test: Case) async throws {
        try await Namespace.run {
            // The far side first: its interface and listener stay reachable by their descriptors.
            try Namespace.enter()
            let right = try Self.interface("pp-right", 2, test)
            let far = try Namespace.current()
            defer { close(far) }
            let listener = try Stream.listen(v6: test.v6, 2)
            try Namespace.enter()
            let left = try Self.interface("pp-left", 1, test)
            let client = try Stream.connect(v6: test.v6, 2)
            var socketOptions = UDPSocket.Options()
            socketOptions.receiveOffload = test.options.udpGRO
            let sockets = try [
                UDPSocket(family: test.v6 ? 6 : 4, options: socketOptions),
                UDPSocket(family: test.v6 ? 6 : 4, options: socketOptions),
            ]
            let loopback: IPAddress = test.v6 ? .v6(1) : .v4(0x7f00_0001)
            let addresses = sockets.map { PeerAddress(address: loopback, port: $0.port) }
            var near = try TunnelEnd(left, sockets[0], test.options)
            var away = try TunnelEnd(right, sockets[1], test.options)

            let content = Self.content(8 << 20)
            var sent = 0
            var got: [UInt8] = []
            got.reserveCapacity(content.count)
            var server: Stream?
            let end = ContinuousClock.now + .seconds(60)
            while got.count < content.count {
                try #require(ContinuousClock.now < end, "\(got.count) of \(content.count) bytes after 60 s")
                sent += client.write(content[sent...].prefix(1 << 20))
                if server == nil { server = try listener.accept() }
                if let server { got += server.read(1 << 20) }
                let here = try near.turn(to: addresses[1], mtu: test.mtu)
                let there = try away.turn(to: addresses[0], mtu: test.mtu)
                if !here && !there { usleep(100) }
            }
            #expect(got == content)
            let (transmit, receive) = (near.transmit.counters, away.receive.counters)
            #expect((transmit.superPackets > 100) == test.options.tunTSO || test.mtu > 9000)
            #expect((transmit.trains > 50) == test.options.udpGSO || test.mtu > 9000)
            #expect(transmit.sendFallbacks == 0 && receive.writeFallbacks == 0)
            #expect(receive.drops(.forged) == 0 && receive.drops(.malformed) == 0)
            #expect(transmit.movedBytes == 0)
            if test.options == PathOptions(), test.mtu < 60_000 {
                #expect(receive.superPackets > 50)
                // A few packets out of order or across a window's edge may be moved; the bulk is not.
                #expect(receive.movedBytes * 20 < UInt64(content.count))
            }
            #expect(try Namespace.counter("Tcp", "InCsumErrors") == 0)
            try Namespace.enter(far)
            #expect(try Namespace.counter("Tcp", "InCsumErrors") == 0)
        }
    }

    /// Bytes that show where each of them belongs.
    static func content(_ count: Int) -> [UInt8] {
        var random = Seeded(4)
        let block = random.bytes(4093)
        var content: [UInt8] = []
        content.reserveCapacity(count + block.count)
        while content.count < count {
            content += block
            content.put32(UInt32(content.count), content.count - 4)
        }
        return content
    }

    static func interface(_ name: String, _ last: Int, _ test: Case) throws -> TUNDevice {
        let tun = try TUNDevice(name: name, options: test.options)
        try Namespace.ip("address add 10.9.0.\(last)/24 dev \(name)")
        try Namespace.ip("address add fd09::\(last)/64 dev \(name) nodad")
        try Namespace.ip("link set \(name) mtu \(test.mtu) up")
        #expect(tun.mtu == test.mtu)
        #expect(tun.offloads.contains(.tso4) == test.options.tunTSO)
        #expect(tun.offloads.contains(.uso6) == test.options.tunUSO)
        return tun
    }

    @Test("an interface that exists is refused by name; attaching and adopting work")
    func interfaces() async throws {
        try await Namespace.run {
            try Namespace.enter()
            let tun = try TUNDevice(name: "pp%d")
            #expect(tun.name == "pp0")
            try Namespace.ip("link add pp-dummy type veth peer name pp-peer")
            for taken in ["pp0", "pp-dummy"] {
                let error = #expect(throws: PathError.self) { try TUNDevice(name: taken) }
                #expect(error?.message.contains("\(taken) exists already") == true, "\(String(describing: error))")
            }
            let long = #expect(throws: PathError.self) { try TUNDevice(name: "a-name-that-is-too-long") }
            #expect(long?.message.contains("no interface name") == true)
            let adopted = try TUNDevice(adopting: dup(tun.descriptor))
            #expect(adopted.name == "pp0" && adopted.offloads == tun.offloads)
            let event = try EventDescriptor()
            #expect(throws: PathError.self) { try TUNDevice(adopting: dup(event.descriptor)) }
            try Namespace.ip("link delete pp0")
            var path = try TransmitPath(backend: .sodium)
            let outcome = path.read(from: tun)
            #expect(outcome == .closed)
            #expect(tun.name == nil)
        }
    }

    @Test("a train larger than the route's MTU goes out singly, and the next one at once")
    func smallMTU() async throws {
        for v6 in [false, true] {
            try await Namespace.run {
                try Namespace.enter()
                let far = try Namespace.current()
                defer { close(far) }
                let receiver = try UDPSocket(family: v6 ? 6 : 4, options: .init())
                try Namespace.enter()
                try Namespace.ip("link add pp-a mtu 1300 type veth peer name pp-b mtu 1300")
                try Namespace.ip("link set pp-b netns /proc/\(getpid())/fd/\(far)")
                try Namespace.ip("address add 10.8.0.1/24 dev pp-a")
                try Namespace.ip("address add fd08::1/64 dev pp-a nodad")
                try Namespace.ip("link set pp-a up")
                let sender = try UDPSocket(family: v6 ? 6 : 4, options: .init())
                let near = try Namespace.current()
                defer { close(near) }
                try Namespace.enter(far)
                try Namespace.ip("address add 10.8.0.2/24 dev pp-b")
                try Namespace.ip("address add fd08::2/64 dev pp-b nodad")
                try Namespace.ip("link set pp-b up")
                try Namespace.enter(near)
                let peer = PeerAddress(
                    address: v6 ? .v6(UInt128(0xfd08) << 112 | 2) : .v4(0x0a08_0002), port: receiver.port)
                var path = try TransmitPath(backend: .sodium)
                var receive = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
                for round in 1...3 {
                    let sample = Sample(payload: [UInt8](repeating: 3, count: 10 * 1380))
                    let taken = path.take(sample.superPacket(segment: 1380))
                    #expect(taken == .packet)
                    path.begin(to: peer, from: nil, tag: 0)
                    let sealed = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
                    #expect(sealed == .complete)
                    let sent = path.flush(to: sender)
                    #expect(sent == SendOutcome(sent: 10, dropped: 0, error: 0, sourceCleared: false))
                    // The first call found the limit; the later ones know it.
                    #expect(path.counters.sendFallbacks == 1)
                    #expect(path.counters.singles == UInt64(10 * round))
                    var arrived = 0
                    while arrived < 10 {
                        waitReadable(receiver.descriptor)
                        let trains = receive.receive(from: receiver)
                        guard trains > 0 else { break }
                        for index in 0..<trains { arrived += receive.train(index).count }
                    }
                    #expect(arrived == 10)
                }
                path.forgetLearnedLimits()
                let taken = path.take(Sample(payload: [UInt8](repeating: 3, count: 8000)).superPacket(segment: 1000))
                #expect(taken == .packet)
                _ = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
                let sent = path.flush(to: sender)
                #expect(sent.sent == 8)
                #expect(path.counters.sendFallbacks == 1)
                #expect(path.counters.trains == 1)
            }
        }
    }

    @Test("USO super-packets come from the TUN and go into one")
    func uso() async throws {
        try await Namespace.run {
            try Namespace.enter()
            let tun = try Self.interface("pp-uso", 1, Case(name: "uso"))
            // Ours go out through the TUN to a peer that is not there.
            let socket = try UDPSocket(family: 4, options: .init())
            var sending = try TransmitPath(backend: .sodium)
            let sample = Sample(tcp: false, payload: [UInt8](repeating: 9, count: 9000))
            let taken = sending.take(sample.superPacket(segment: 900))
            #expect(taken == .packet)
            sending.begin(to: PeerAddress(address: .v4(0x0a09_0002), port: 777), from: nil, tag: 0)
            _ = sending.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
            let train = Array(copying: sending.trainBytes)
            let stride = sending.trainShape.stride
            let sent = sending.flush(to: socket)
            #expect(sent.sent == 10 && sending.counters.sendFallbacks == 0)
            var reading = try TransmitPath(backend: .sodium)
            var outcome = reading.read(from: tun)
            // Router solicitations of the fresh interface may come first.
            while outcome == .packet, reading.packet.transport != 17 { outcome = reading.read(from: tun) }
            try #require(outcome == .packet)
            #expect(reading.packet.segmentCount == 10)
            #expect(reading.packet.destination == .v4(0x0a09_0002))
            var payloads: [UInt8] = []
            var answers: [[UInt8]] = []
            while true {
                guard let span = reading.takeSegment() else { break }
                var segment = Array(copying: span)
                payloads += segment[28...]
                #expect(fold(naiveSum(segment[..<20])) == 0xffff)
                // Turned round, it is for us: the checksums stay right when source and destination change places.
                segment.swapAt(15, 19)
                let ports = Array(segment[20..<24])
                segment.replaceSubrange(20..<24, with: ports[2...] + ports[..<2])
                answers.append(segment)
            }
            #expect(payloads == train)
            var receive = try ReceivePath(tun: tun, backend: .sodium)
            CoalescingTests.deliver(&receive, answers)
            receive.flush()
            #expect(receive.counters.superPackets == 1 && receive.counters.drops == 0)
            var back = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
            var arrived: [UInt8] = []
            while arrived.count < train.count {
                waitReadable(socket.descriptor)
                let trains = back.receive(from: socket)
                try #require(trains > 0)
                for index in 0..<trains {
                    let one = back.train(index)
                    #expect(one.from.port == 777 && one.stride == stride)
                    for place in 0..<one.count { arrived += Array(copying: back.datagram(one, place)) }
                }
            }
            #expect(arrived == train)
        }
    }
}
