import Foundation
import Testing

extension Lab {
    /// A TCP transfer of random bytes that runs beside others, with the checksum of what was sent and what came.
    struct Transfer {
        fileprivate let sender: Child
        fileprivate let receiver: Child

        /// Waits for the end; the bytes that came must be the bytes that were sent.
        func finish(seconds: Double = 60) throws {
            try #require(try sender.waitForExit(seconds: seconds) == 0, "\(sender.output)")
            _ = try receiver.waitForExit(seconds: 20)
            // The sum of the sender is printed by a process of its own, perhaps a moment later.
            try eventually("the sender's sum") { sender.output.count >= 64 }
            #expect(receiver.output.count >= 64)
            #expect(receiver.output == sender.output, "the SHA-256 of what was sent and of what came")
        }
    }

    /// Starts a transfer of so many bytes to an address of `receiver`, by IPv4 or IPv6.
    func startTransfer(from sender: Machine, to receiver: Machine, _ address: String, port: Int, bytes: Int) throws
        -> Transfer
    {
        let family = address.contains(":") ? "-6" : "-4"
        let sink = try start(
            on: receiver, ["bash", "-c", "set -o pipefail; ncat \(family) -l \(port) --recv-only | sha256sum"])
        try eventually("the listener") { try receiver("ss", "-Hltn", "sport = :\(port)").contains("\(port)") }
        let script =
            "set -o pipefail; head -c \(bytes) /dev/urandom | tee >(sha256sum >&2) "
            + "| ncat --send-only \(address) \(port)"
        return Transfer(sender: try start(on: sender, ["bash", "-c", script]), receiver: sink)
    }

    /// Starts an iperf3 server and waits until it listens.
    func startServer(on machine: Machine) throws {
        _ = try start(on: machine, ["iperf3", "-s"])
        try eventually("the iperf3 server") { try machine("ss", "-Hltn", "sport = :5201").contains("5201") }
    }

    /// UDP of `length` bytes a datagram from left to right at a pace that loses nothing, and what of it arrived.
    ///
    /// The server must run: `iperf3 -s` on the right.
    func sendDatagrams(length: Int, megabitsPerSecond: Int, seconds: Int) throws -> (sent: Int, lost: Int) {
        let output = try left(
            "iperf3", "-c", "10.7.0.2", "-u", "-b", "\(megabitsPerSecond)M", "-l", "\(length)", "-t", "\(seconds)", "-J"
        )
        let report = try JSONDecoder().decode(DatagramReport.self, from: Data(output.utf8))
        return (report.end.sum.packets, report.end.sum.lost_packets)
    }

    /// The part of `iperf3 -u -J` that is read here, in iperf3's own names.
    private struct DatagramReport: Decodable {
        struct Sum: Decodable {
            let packets: Int
            let lost_packets: Int
        }
        struct End: Decodable { let sum: Sum }
        let end: End
    }
}

extension Machine {
    /// Segments and datagrams that the kernel dropped for a wrong checksum, of TCP, UDP and ICMP in both families.
    func checksumErrors() throws -> Int {
        // /proc/net/snmp has a line of names and a line of values for each protocol.
        let lines = try self("cat", "/proc/net/snmp").split(separator: "\n").map { $0.split(separator: " ") }
        var errors = 0
        for (names, values) in zip(lines, lines.dropFirst()) where names[0] == values[0] {
            for (name, value) in zip(names, values) where name == "InCsumErrors" { errors += Int(value) ?? 0 }
        }
        for line in try self("cat", "/proc/net/snmp6").split(separator: "\n") where line.contains("InCsumErrors") {
            errors += line.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        return errors
    }
}

/// What the environment asks of the tests that can be made larger.
enum TestSize {
    /// Bytes of the large transfer: PROVIDERHOST_TEST_TRANSFER_MB, 64 by default.
    static let transfer = megabytes(standard: 64) * 1_000_000
    /// Bytes of the transfers of which there are many: the same, 2 by default.
    static let shortTransfer = megabytes(standard: 2) * 1_000_000

    private static func megabytes(standard: Int) -> Int {
        ProcessInfo.processInfo.environment["PROVIDERHOST_TEST_TRANSFER_MB"].flatMap { Int($0) } ?? standard
    }

    /// Whether the tests that take a minute and more run: PROVIDERHOST_TEST_LONG.
    static let isLong = ProcessInfo.processInfo.environment["PROVIDERHOST_TEST_LONG"] != nil
}
