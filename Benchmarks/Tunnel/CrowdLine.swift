import Foundation
import PacketPath
import WireGuard

/// The way of a crowd to its gateway: one socket for all peers.
struct CrowdLine {
    /// Handshakes that are under way at once: fewer than what makes the gateway ask for cookies.
    private static let window = 16

    let key: PublicKey
    private let socket: UDPSocket
    private let gateway: PeerAddress

    /// A way to the first peer of a wg-quick file.
    init(toGatewayOf file: String) throws {
        guard let peer = try TunnelEndpoint.configuration(at: file).peers.first,
            case .address(let endpoint) = peer.endpoint, case .v4(let address) = endpoint.address
        else {
            throw BenchmarkError.usage("there is no gateway in \(file)", advice: "Give a peer with an IPv4 endpoint.")
        }
        key = peer.publicKey
        gateway = PeerAddress(address: .v4(address), port: endpoint.port)
        socket = try TunnelEndpoint.translatingErrors {
            var options = UDPSocket.Options()
            options.receiveOffload = false
            return try UDPSocket(family: 4, options: options)
        }
    }

    /// Brings the sessions of so many members up and confirms them; they come in no order.
    func connect(_ count: Int) throws -> [CrowdSession] {
        var sessions: [CrowdSession] = []
        var missing = Array(0..<count)
        for _ in 0..<5 where !missing.isEmpty {
            var unanswered: [Int] = []
            for start in stride(from: 0, to: missing.count, by: Self.window) {
                try Interruption.check()
                unanswered += try connect(missing[start...].prefix(Self.window), &sessions)
            }
            missing = unanswered
        }
        guard missing.isEmpty else {
            throw BenchmarkError(
                "\(missing.count) of \(count) peers got no answer", advice: "Are they in the gateway's configuration?")
        }
        return sessions
    }

    /// Connects some peers at once and returns those that got no answer.
    private func connect(_ numbers: some Sequence<Int>, _ sessions: inout [CrowdSession]) throws -> [Int] {
        var waiting: [CrowdMember] = []
        for number in numbers {
            let member = try CrowdMember(number, gateway: key, at: .current)
            send(member.initiation)
            waiting.append(member)
        }
        while !waiting.isEmpty, let message = receive(milliseconds: 500) {
            guard let place = waiting.firstIndex(where: { $0.isAnswered(by: message) }) else { continue }
            var session = try waiting.remove(at: place).complete(message, at: .current)
            // An empty packet confirms the session.
            send(session.seal([]))
            sessions.append(session)
        }
        return waiting.map(\.number)
    }

    func send(_ message: [UInt8]) {
        _ = socket.sendDatagram(message.rawBytes, to: gateway, from: nil, trafficClass: 0)
    }

    func receive(milliseconds: Int32) -> [UInt8]? { socket.receiveDatagram(milliseconds: milliseconds) }
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
