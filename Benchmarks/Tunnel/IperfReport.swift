import Foundation

/// The end of a run as `iperf3 -J` reports it: what arrived at the receiver.
struct IperfReport {
    /// Goodput in Gb/s; both directions together when the run was bidirectional.
    let gigabits: Double
    /// Payload bytes that arrived, in billions.
    let gigabytes: Double
    /// Datagrams that did not arrive, in percent; UDP only.
    let lossPercent: Double?
    /// The sender's TCP congestion control.
    let congestionControl: String?

    /// Reads the output; throws iperf3's own error, or says what is missing in it.
    init(_ text: String, datagramLength: Int? = nil) throws {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
        } catch {
            throw BenchmarkError(
                "the output of iperf3 is not its JSON report", advice: "It starts: \(text.prefix(200))")
        }
        if let error = document.error {
            throw BenchmarkError("iperf3: \(error)", advice: "Did the tunnel lose its connection during the run?")
        }
        guard let received = document.end?.sum_received else {
            throw BenchmarkError(
                "the report of iperf3 has no end.sum_received", advice: "iperf3 3.9 or later is needed.")
        }
        congestionControl = document.end?.sender_tcp_congestion
        if let datagramLength {
            guard let packets = received.packets, let lost = received.lost_packets, received.seconds > 0 else {
                throw BenchmarkError("the report of iperf3 counts no datagrams", advice: "Was the run a UDP run?")
            }
            // The receiver's byte count of some versions is the sender's, so goodput comes from the datagrams.
            let bytes = (packets - lost) * Double(datagramLength)
            gigabits = bytes * 8 / received.seconds / 1e9
            gigabytes = bytes / 1e9
            lossPercent = packets > 0 ? lost / packets * 100 : 0
        } else {
            let reverse = document.end?.sum_received_bidir_reverse
            gigabits = (received.bits_per_second + (reverse?.bits_per_second ?? 0)) / 1e9
            gigabytes = (received.bytes + (reverse?.bytes ?? 0)) / 1e9
            lossPercent = nil
        }
    }

    private struct Document: Decodable {
        let end: End?
        let error: String?
    }

    private struct End: Decodable {
        let sum_received: Sum?
        let sum_received_bidir_reverse: Sum?
        let sender_tcp_congestion: String?
    }

    private struct Sum: Decodable {
        let seconds: Double
        let bytes: Double
        let bits_per_second: Double
        let packets: Double?
        let lost_packets: Double?
    }
}
