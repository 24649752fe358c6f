import Glibc
import Testing

@testable import PacketPath

@Suite("UDP sockets over loopback")
struct SocketTests {
    static let hosts: [(UInt8, IPAddress)] = [(4, .v4(0x7f00_0001)), (6, .v6(1))]

    @Test("a pair has one port in both families, and a port in use is named")
    func ports() throws {
        let pair = try UDPSocket.pair(options: .init())
        let v4 = try #require(pair.v4)
        #expect(v4.port != 0 && v4.family == 4)
        if let v6 = pair.v6 { #expect(v6.port == v4.port && v6.family == 6) }
        var options = UDPSocket.Options()
        options.port = v4.port
        let error = #expect(throws: PathError.self) { try UDPSocket(family: 4, options: options) }
        #expect(error?.message.contains("port \(v4.port) is in use") == true)
        #expect(throws: PathError.self) { try UDPSocket(adopting: dup(STDIN_FILENO), options: .init()) }
        #expect(try UDPSocket(adopting: dup(v4.descriptor), options: .init()).port == v4.port)
    }

    @Test("a train sent in one call arrives as one train, with ToS and the address it was sent to", arguments: hosts)
    func trains(family: UInt8, host: IPAddress) throws {
        let sender = try UDPSocket(family: family, options: .init())
        let receiver = try UDPSocket(family: family, options: .init())
        var path = try TransmitPath(backend: .sodium)
        var receive = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
        var sample = Sample(payload: [UInt8](repeating: 1, count: 30 * 1000))
        sample.trafficClass = 0x41
        let taken = path.take(sample.superPacket(segment: 1000))
        #expect(taken == .packet)
        path.begin(to: PeerAddress(address: host, port: receiver.port), from: nil, tag: 0)
        _ = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
        let bytes = Array(copying: path.trainBytes)
        let sent = path.flush(to: sender)
        #expect(sent.sent == 30)
        let trains = path.counters.trains
        #expect(trains == 1)
        waitReadable(receiver.descriptor)
        let count = receive.receive(from: receiver)
        #expect(count == 1)
        let train = receive.train(0)
        #expect(train.count == 30 && train.length == bytes.count)
        #expect(train.trafficClass == 1)
        #expect(train.from == PeerAddress(address: host, port: sender.port))
        #expect(train.to?.address == host)
        let got = (0..<train.count).flatMap { Array(copying: receive.datagram(train, $0)) }
        #expect(got == bytes)
        let again = receive.receive(from: receiver)
        #expect(again == 0)
    }

    @Test("without GRO and GSO the same datagrams arrive one by one", arguments: hosts)
    func singles(family: UInt8, host: IPAddress) throws {
        var plain = UDPSocket.Options()
        plain.receiveOffload = false
        let sender = try UDPSocket(family: family, options: .init())
        let receiver = try UDPSocket(family: family, options: plain)
        #expect(!receiver.receiveOffload)
        var options = PathOptions()
        options.udpGSO = false
        var path = try TransmitPath(backend: .sodium, options: options)
        var receive = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
        let taken = path.take(Sample(payload: [UInt8](repeating: 1, count: 10 * 1000)).superPacket(segment: 1000))
        #expect(taken == .packet)
        path.begin(to: PeerAddress(address: host, port: receiver.port), from: nil, tag: 0)
        _ = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
        let sent = path.flush(to: sender)
        #expect(sent.sent == 10)
        let (trains, singles) = (path.counters.trains, path.counters.singles)
        #expect(trains == 0 && singles == 10)
        var arrived = 0
        while arrived < 10 {
            waitReadable(receiver.descriptor)
            let count = receive.receive(from: receiver)
            guard count > 0 else { break }
            for index in 0..<count { #expect(receive.train(index).count == 1) }
            arrived += count
        }
        #expect(arrived == 10)
    }

    @Test("answers leave from the address that was asked, and a source that is gone is left out", arguments: hosts)
    func sticky(family: UInt8, host: IPAddress) throws {
        let sender = try UDPSocket(family: family, options: .init())
        let receiver = try UDPSocket(family: family, options: .init())
        var receive = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
        let bytes: [UInt8] = [1, 2, 3, 4, 5]
        let to = PeerAddress(address: host, port: receiver.port)
        let source: IPAddress = family == 4 ? .v4(0x7f00_0005) : .v6(1)
        let missing: IPAddress = family == 4 ? .v4(0xc000_02fe) : .v6(UInt128(0x2001_0db8) << 96 | 0xfe)
        for (address, cleared): (IPAddress, Bool) in [(source, false), (missing, true)] {
            let sent = unsafe sender.sendDatagram(
                bytes.span.bytes, to: to, from: LocalAddress(address: address, interface: 0), trafficClass: 0x88)
            #expect(sent == SendOutcome(sent: 1, dropped: 0, error: 0, sourceCleared: cleared))
            waitReadable(receiver.descriptor)
            let count = receive.receive(from: receiver)
            #expect(count == 1)
            let train = receive.train(0)
            #expect(train.from.address == (cleared ? host : source))
            #expect(train.trafficClass == 0x88)
            let got = Array(copying: receive.datagram(train, 0))
            #expect(got == bytes)
        }
    }

    @Test("datagrams for which the socket had no room are counted, each once", arguments: hosts)
    func overflow(family: UInt8, host: IPAddress) throws {
        var small = UDPSocket.Options()
        small.receiveBuffer = 8192
        let sender = try UDPSocket(family: family, options: .init())
        let receiver = try UDPSocket(family: family, options: small)
        var receive = try ReceivePath(tun: PacketPair().tun, backend: .sodium)
        let to = PeerAddress(address: host, port: receiver.port)
        let bytes = [UInt8](repeating: 7, count: 1000)
        var arrived = 0
        for count in [100, 1, 100, 1] {
            for _ in 0..<count {
                let sent = unsafe sender.sendDatagram(bytes.span.bytes, to: to, from: nil, trafficClass: 0)
                #expect(sent.sent == 1)
            }
            waitReadable(receiver.descriptor)
            while true {
                let trains = receive.receive(from: receiver)
                guard trains > 0 else { break }
                for index in 0..<trains { arrived += receive.train(index).count }
            }
        }
        // The one datagram after each hundred brought the count.
        let drops = receive.counters.kernelDrops
        #expect(drops > 100 && drops == UInt64(202 - arrived))
    }

    @Test("a datagram that the socket refuses is counted, and the source stays when it was not the reason")
    func refused() throws {
        let sender = try UDPSocket(family: 4, options: .init())
        let host = IPAddress.v4(0x7f00_0001)
        let bytes: [UInt8] = [1]
        // Port 0 is refused with EINVAL whatever the source.
        let sent = unsafe sender.sendDatagram(
            bytes.span.bytes, to: PeerAddress(address: host, port: 0), from: LocalAddress(address: host, interface: 0),
            trafficClass: 0)
        #expect(sent == SendOutcome(sent: 0, dropped: 1, error: 22, sourceCleared: false))
    }

    @Test("what is learned about trains holds for one socket and family, or one destination and size")
    func learned() throws {
        let v4 = try UDPSocket(family: 4, options: .init())
        let other = try UDPSocket(family: 4, options: .init())
        let v6 = try UDPSocket(family: 6, options: .init())
        let (a, b) = (PeerAddress(address: .v4(1), port: 1), PeerAddress(address: .v4(2), port: 1))
        var state = SendState(allowed: true)
        func may(_ socket: UDPSocket, _ peer: PeerAddress, _ size: Int) -> Bool {
            state.mayTrain(socket, peer, segment: size)
        }
        #expect(may(v4, a, 1452) && may(v6, a, 1452))
        state.limit(a, segment: 1452)
        #expect(!may(v4, a, 1452) && !may(v4, a, 1500))
        #expect(may(v4, a, 1300) && may(v4, b, 1452))
        var refused = 0
        while !may(v4, a, 1452) { refused += 1 }
        #expect(refused == SendState.trainsUntilTrial - 2)
        state.limit(a, segment: 1452)
        state.forgetLimits()
        #expect(may(v4, a, 1452))
        state.refuse(v4)
        #expect(!may(v4, a, 100) && !may(v4, b, 100) && may(v6, a, 100))
        // A new socket starts anew.
        #expect(may(other, a, 100))
        var off = SendState(allowed: false)
        let none = off.mayTrain(v4, a, segment: 100)
        #expect(!none)
    }
}
