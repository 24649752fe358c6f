import Foundation
import PacketPath
import WireGuard

/// Many peers of one gateway: each completes a handshake over UDP, confirms it, and is silent from then on.
struct Crowd {
    /// The number of peers.
    let count: Int

    static let verb = "crowd"
    /// Handshakes that are under way at once: fewer than what makes the gateway ask for cookies.
    private static let window = 16

    /// The peers as sections of the gateway's configuration, each with an address of 10.16.0.0/12.
    var sections: String {
        (0..<count).map { number in
            let address = WireGuard.IPAddress.v4(0x0a10_0000 + UInt32(number))
            return "[Peer]\nPublicKey = \(Member.secret(number).publicKey)\nAllowedIPs = \(address)/32\n"
        }.joined(separator: "\n")
    }

    /// Brings all sessions up from a machine; `gateway` is a file whose first peer is the gateway.
    func connect(from machine: Machine, gateway: String) throws {
        try machine.run(executable.path, Self.verb, gateway, "\(count)", seconds: 60 + Double(count) / 50)
    }

    /// The hidden verb `crowd CONFIG COUNT`, which is the crowd.
    static func run(_ arguments: [String]) throws -> Int32 {
        guard arguments.count == 2, let count = Int(arguments[1]), count > 0,
            let peer = try TunnelEndpoint.configuration(at: arguments[0]).peers.first,
            case .address(let endpoint) = peer.endpoint, case .v4(let address) = endpoint.address
        else {
            throw BenchmarkError.usage(
                "crowd has other arguments", advice: "crowd CONFIG COUNT; the first peer has an IPv4 endpoint.")
        }
        Interruption.install()
        let line = CrowdLine(
            socket: try TunnelEndpoint.translatingErrors {
                var options = UDPSocket.Options()
                options.receiveOffload = false
                return try UDPSocket(family: 4, options: options)
            },
            gateway: PeerAddress(address: .v4(address), port: endpoint.port))
        var missing = Array(0..<count)
        for _ in 0..<5 where !missing.isEmpty {
            var unanswered: [Int] = []
            for start in stride(from: 0, to: missing.count, by: window) {
                try Interruption.check()
                unanswered += try line.connect(missing[start...].prefix(window), to: peer.publicKey)
            }
            missing = unanswered
        }
        guard missing.isEmpty else {
            throw BenchmarkError(
                "\(missing.count) of \(count) peers got no answer", advice: "Are they in the gateway's configuration?")
        }
        return 0
    }
}

/// The way to the gateway.
private struct CrowdLine {
    let socket: UDPSocket
    let gateway: PeerAddress

    /// Connects some peers at once and returns those that got no answer.
    func connect(_ numbers: some Sequence<Int>, to key: PublicKey) throws -> [Int] {
        var waiting: [Member] = []
        for number in numbers {
            let member = try Member(number, gateway: key, at: .current)
            send(member.initiation)
            waiting.append(member)
        }
        while !waiting.isEmpty, let message = socket.receiveDatagram(milliseconds: 500) {
            guard let place = waiting.firstIndex(where: { $0.isAnswered(by: message) }) else { continue }
            send(try waiting.remove(at: place).confirm(message, at: .current))
        }
        return waiting.map(\.number)
    }

    private func send(_ message: [UInt8]) {
        _ = socket.sendDatagram(message.rawBytes, to: gateway, from: nil, trafficClass: 0)
    }
}

/// One peer of the crowd in its handshake.
private final class Member {
    let number: Int
    let initiation: [UInt8]
    private var half: Half

    static func secret(_ number: Int) -> PrivateKey {
        var keys = CountingRandom(offset: UInt64(number + 1) << 32)
        return PrivateKey(keys.nextKey())
    }

    init(_ number: Int, gateway: PublicKey, at time: Moment) throws {
        var half = Half(secret: Self.secret(number), peer: gateway, port: 1)
        half.random = CountingRandom(offset: now())
        initiation = try half.initiate(time)
        self.number = number
        self.half = half
    }

    /// Whether a message is the response to our initiation: it carries our index (whitepaper section 5.4.3).
    func isAnswered(by message: [UInt8]) -> Bool {
        message.count == MessageSize.response && message[8..<12] == initiation[4..<8]
    }

    /// Takes the response and returns the keepalive that confirms the session.
    func confirm(_ response: [UInt8], at time: Moment) throws -> [UInt8] {
        _ = half.take(response, from: Half.endpoint(2), at: time)
        guard let grant = half.firstGrant(at: time) else {
            throw BenchmarkError("a response is not authentic", advice: "Is this the gateway's key?")
        }
        let header = DataHeader(receiverIndex: grant.receiverIndex, counter: grant.firstCounter)
        return TransportMessage.seal([], paddedTo: 0, key: grant.key, header: header)
    }
}

extension Moment {
    /// The clocks of this machine.
    fileprivate static var current: Moment {
        let wall = Date.now.timeIntervalSince1970
        return Moment(
            instant: Instant(nanoseconds: now()),
            wallClock: TAI64N(
                unixSeconds: Int64(wall), nanoseconds: UInt32(wall.truncatingRemainder(dividingBy: 1) * 1e9)))
    }
}
