import Foundation
import Testing

@testable import Benchmarks

/// One direction between two machines, for numbered datagrams of 64 bytes.
struct NumberedWay {
    private let sender: Machine
    private let receiver: Machine
    private let address: String
    private let port: Int
    private let source: [String]

    /// A way to an address of `receiver`, from one of `sender`, which else the kernel chooses for each datagram.
    init(from sender: Machine, to receiver: Machine, _ address: String, port: Int, source: String? = nil) {
        self.sender = sender
        self.receiver = receiver
        self.address = address
        self.port = port
        self.source = source.map { [$0] } ?? []
    }

    /// Starts a stream of so many datagrams a second, 0 for as many as go; without `seconds` it runs until it is finished.
    func begin(_ lab: Lab, rate: Int, seconds: Double? = nil) throws -> NumberedStream {
        let program = Lab.buildFolder.appendingPathComponent("Benchmarks").path
        let sink = try lab.start(on: receiver, [program, Numbers.verb, "receive", "\(port)"])
        try eventually("the receiver") { try receiver("ss", "-Huln", "sport = :\(port)").contains("\(port)") }
        let end = "\(seconds ?? 86_400)"
        let source = try lab.start(
            on: sender, [program, Numbers.verb, "send", "\(address):\(port)", "\(rate)", end] + source)
        return NumberedStream(source: source, sink: sink, seconds: seconds)
    }
}

/// A stream that runs.
struct NumberedStream {
    /// What came of a stream.
    struct Outcome {
        let sent: NumbersSent
        let received: NumbersReceived

        /// Whether each number came, once and in its turn.
        var isWhole: Bool {
            sent.sent > 0 && sent.refused == 0 && received.received == sent.sent && received.missing == 0
                && received.late == 0
        }

        /// What arrived of a second's.
        var rate: Double { Double(received.received) / sent.seconds }
    }

    fileprivate let source: Child
    fileprivate let sink: Child
    fileprivate let seconds: Double?

    /// Ends the stream, or waits for its end, and takes half a second for what is on its way.
    func finish() throws -> Outcome {
        if seconds == nil { source.signal(SIGTERM) }
        try #require(try source.waitForExit(seconds: 10 + (seconds ?? 0)) == 0, "\(source.output)")
        usleep(500_000)
        sink.signal(SIGTERM)
        try #require(try sink.waitForExit(seconds: 30) == 0, "\(sink.output)")
        return Outcome(
            sent: try JSONDecoder().decode(NumbersSent.self, from: Data(source.output.utf8)),
            received: try JSONDecoder().decode(NumbersReceived.self, from: Data(sink.output.utf8)))
    }
}
