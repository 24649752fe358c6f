import Foundation
import Glibc
import PacketPath
import WireGuard

/// A steady stream of numbered datagrams and its receiver, the hidden verb `numbers`; each ends at SIGTERM at the latest.
///
///     numbers send ADDRESS:PORT RATE SECONDS [SOURCE]     RATE a second (0: what goes), from the source address
///     numbers receive PORT
///
/// Both print JSON. The sender never makes up for time that it did not have: a burst would be another load.
enum Numbers {
    static let verb = "numbers"

    /// With its number, 64 bytes of payload.
    private static let padding = [UInt8](repeating: 0, count: 56)
    /// What a sender is behind at the most before it lets the time go.
    private static let longestDelay: UInt64 = 5_000_000

    static func run(_ arguments: [String]) throws -> Int32 {
        Interruption.install()
        let report: any Encodable
        switch (arguments.first, arguments.count) {
        case ("send", 4...5): report = try send(arguments)
        case ("receive", 2): report = try receive(arguments[1])
        default: throw wrongArguments
        }
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        return 0
    }

    private static var wrongArguments: BenchmarkError {
        .usage(
            "numbers has other arguments", advice: "numbers send ADDRESS:PORT RATE SECONDS [SOURCE] | receive PORT")
    }

    private static func send(_ arguments: [String]) throws -> NumbersSent {
        guard let target = Endpoint(arguments[1]), let rate = Double(arguments[2]), let seconds = Double(arguments[3])
        else { throw wrongArguments }
        var sources: Range<UInt32> = 0..<0
        if arguments.count == 5 {
            guard case .v4(let source)? = WireGuard.IPAddress(arguments[4]) else { throw wrongArguments }
            sources = source..<source + 1
        }
        let load = try Load([padding], to: target, from: sources, isNumbered: true)
        let blaster = try Blaster()
        var report = NumbersSent()
        let start = now()
        var (pace, time) = (start, start)
        // What of the pace is used up.
        var done = 0
        while time < start + UInt64(seconds * 1e9), !Interruption.isRequested {
            var due = Blaster.batch
            if rate > 0 {
                if Double(time - pace) * rate / 1e9 - Double(done) > max(2, Double(longestDelay) * rate / 1e9) {
                    (pace, done) = (time, 0)
                }
                due = min(due, Int(Double(time - pace) * rate / 1e9) - done)
            }
            if due > 0 {
                let sent = blaster.trySend(load, from: report.sent, atMost: due)
                if sent > 0 { report.sent += sent } else { report.refused += 1 }
                done += max(sent, 1)
            } else {
                usleep(200)
            }
            time = now()
        }
        report.seconds = Double(now() - start) / 1e9
        return report
    }

    private static func receive(_ text: String) throws -> NumbersReceived {
        guard let port = UInt16(text) else { throw wrongArguments }
        let socket = try TunnelEndpoint.translatingErrors {
            var options = UDPSocket.Options()
            options.port = port
            options.receiveOffload = false
            // What waits while the receiver has no core is not lost.
            options.receiveBuffer = 256 << 20
            return try UDPSocket(family: 4, options: options)
        }
        var report = NumbersReceived()
        while !Interruption.isRequested {
            guard let datagram = socket.receiveDatagram(milliseconds: 100) else { continue }
            report.take(datagram[..<8].reversed().reduce(0) { $0 << 8 | Int($1) })
        }
        return report
    }
}
