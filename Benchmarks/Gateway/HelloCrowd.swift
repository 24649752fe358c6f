import Foundation
import Glibc
import SettingsPush
import WireGuard

/// A crowd that asks its gateway for settings, the hidden verb `hellos CONFIG COUNT WINDOW PID...`.
///
/// Every peer completes a handshake. Then each sends one HELLO as a client does that holds nothing yet, so many at once, again
/// after half a second without an answer. An answer counts when it is authentic, repeats nonce and transaction, and carries
/// the whole snapshot under its digest, with addresses that no other peer got. The processes are the gateway's.
struct HelloCrowd {
    static let verb = "hellos"

    private static let patience: UInt64 = 500_000_000
    private static let longestSilence: UInt64 = 10_000_000_000

    private let line: CrowdLine
    private let gatewayAddress: WireGuard.IPAddress
    private var sessions: [CrowdSession]
    /// The control addresses of the sessions' members, by place: each costs a multiplication on the curve.
    private let controlAddresses: [WireGuard.IPAddress]
    private var places: [UInt32: Int] = [:]
    /// When the HELLO of a session was sent that has no answer yet, by its place.
    private var waiting: [Int: UInt64] = [:]
    private var addresses: Set<WireGuard.IPAddress> = []
    private var report = HelloReport()

    static func run(_ arguments: [String]) throws -> Int32 {
        guard arguments.count >= 3, let count = Int(arguments[1]), count > 0, let window = Int(arguments[2]), window > 0
        else {
            throw BenchmarkError.usage("hellos has other arguments", advice: "hellos CONFIG COUNT WINDOW PID...")
        }
        Interruption.install()
        let processes = arguments.dropFirst(3).compactMap { pid_t($0) }
        var crowd = try HelloCrowd(file: arguments[0], count: count)
        let before = usage(of: processes)
        try crowd.ask(window: window)
        // The gateway writes results and addresses down once a second.
        usleep(1_500_000)
        crowd.report.processorSeconds = usage(of: processes) - before
        print(String(decoding: try JSONEncoder().encode(crowd.report), as: UTF8.self))
        return 0
    }

    private static func usage(of processes: [pid_t]) -> Double {
        let usage = processes.map(ProcessUsage.processor).reduce(ProcessUsage(), +)
        return usage.user + usage.system
    }

    private init(file: String, count: Int) throws {
        line = try CrowdLine(toGatewayOf: file)
        gatewayAddress = ControlPacket.address(of: line.key)
        sessions = try line.connect(count)
        controlAddresses = sessions.map { ControlPacket.address(of: CrowdMember.secret($0.number).publicKey) }
        for (place, session) in sessions.enumerated() { places[session.index] = place }
    }

    private mutating func ask(window: Int) throws {
        let hellos = sessions.indices.map(hello)
        let start = now()
        var (next, lastLook, lastAnswer) = (0, start, start)
        while report.answered < sessions.count {
            while waiting.count < window, next < sessions.count {
                send(hellos[next], place: next)
                next += 1
            }
            if let datagram = line.receive(milliseconds: 50), take(datagram) { lastAnswer = now() }
            let time = now()
            guard time - lastLook > Self.patience / 10 else { continue }
            lastLook = time
            try Interruption.check()
            guard time - lastAnswer < Self.longestSilence else {
                throw BenchmarkError(
                    "\(sessions.count - report.answered) of \(sessions.count) HELLOs got no answer",
                    advice: "Does the gateway know these peers, and has it addresses for them?")
            }
            for (place, sent) in waiting where time - sent > Self.patience {
                send(hellos[place], place: place)
                report.repeated += 1
            }
        }
        report.seconds = Double(lastAnswer - start) / 1e9
    }

    /// The inner packet of a session's HELLO.
    private func hello(place: Int) -> [UInt8] {
        let body = Hello(
            nonce: UInt64(place) + 1, capabilities: .all, limits: .standard, holding: .none, families: [.ipv4, .ipv6])
        return ControlPacket.make(
            message: Message(transaction: UInt32(place), body: .hello(body)).bytes, from: controlAddresses[place],
            to: gatewayAddress)
    }

    private mutating func send(_ packet: [UInt8], place: Int) {
        line.send(sessions[place].seal(packet))
        waiting[place] = now()
    }

    /// Takes a datagram; returns whether it answers a HELLO that waits.
    private mutating func take(_ datagram: [UInt8]) -> Bool {
        guard let header = DataHeader(datagram.rawBytes), let place = places[header.receiverIndex],
            waiting[place] != nil, let packet = sessions[place].open(datagram),
            let addresses = offeredAddresses(in: packet, place: place),
            self.addresses.isDisjoint(with: addresses)
        else { return false }
        self.addresses.formUnion(addresses)
        waiting[place] = nil
        report.answered += 1
        return true
    }

    /// The addresses of a snapshot that a packet brings in answer to the HELLO of a session; nil if it brings none.
    private func offeredAddresses(in packet: [UInt8], place: Int) -> [WireGuard.IPAddress]? {
        guard let bytes = ControlPacket.message(in: packet, from: gatewayAddress, to: controlAddresses[place]),
            let message = try? Message(bytes: bytes), message.transaction == UInt32(place),
            case .helloAcknowledgement(let acknowledgement) = message.body,
            acknowledgement.nonce == UInt64(place) + 1,
            case .offer(let version, _, _, let inline?) = acknowledgement.answer
        else { return nil }
        let published = PublishedSnapshot(bytes: inline, epoch: version.epoch, serial: version.serial)
        guard published.version == version,
            let snapshot = try? Snapshot.decode(inline, limits: .standard).snapshot, !snapshot.addresses.isEmpty
        else { return nil }
        return snapshot.addresses.map(\.address)
    }
}
