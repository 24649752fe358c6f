import WireGuard

extension Suite {
    /// The responder's side of handshakes, on one core.
    static let handshake = Suite(
        "handshake", "responder handshakes per second and core, in memory",
        options: [Option("--count", "N", help: "handshakes to time (default 2000)")]
    ) { options, report in
        let count = try options.number("--count", standard: 2000, in: 10...1_000_000)
        report.notes = [
            "one thread, no socket; the responder's time from the initiation's bytes to the response's bytes"
        ]
        var pair = HandshakePair()
        for _ in 0..<20 { _ = try pair.handshake() }
        var total: UInt64 = 0
        var times: [Double] = []
        for _ in 0..<count {
            try Interruption.check()
            let time = try pair.handshake()
            total += time
            times.append(Double(time) / 1000)
        }
        let name = "initiation answered"
        report.add(Double(count) * 1e9 / Double(total), "handshakes as responder", unit: "1/s", subject: "one core")
        report.add(median(times) ?? .nan, "\(name), median", unit: "us", subject: "one core")
        report.add(times.min() ?? .nan, "\(name), best", unit: "us", subject: "one core")
    }
}

/// An initiator and a responder that know each other, on a virtual clock.
private struct HandshakePair: ~Copyable {
    private var initiator: Half
    private var responder: Half
    private var seconds: UInt64 = 1_000_000

    init() {
        let secrets = [1, 2].map { PrivateKey(Key256(words: SIMD4(repeating: 0x0123_4567_89ab_cdef &* $0))) }
        initiator = Half(secret: secrets[0], peer: secrets[1].publicKey, port: 1)
        responder = Half(secret: secrets[1], peer: secrets[0].publicKey, port: 2)
    }

    /// One whole handshake; returns the nanoseconds that the responder took.
    mutating func handshake() throws -> UInt64 {
        // Past the life of a session, so that the next packet asks for a new one.
        seconds += 200
        let time = Moment(
            instant: Instant(nanoseconds: seconds * 1_000_000_000),
            wallClock: TAI64N(unixSeconds: 1_700_000_000 + Int64(seconds), nanoseconds: 0))
        let initiation = try initiator.initiate(time)
        let start = now()
        let response = responder.take(initiation, from: Half.endpoint(1), at: time)
        let taken = now() - start
        guard let response else {
            throw BenchmarkError("the responder did not answer", advice: "This is a fault of the core or the suite.")
        }
        _ = initiator.take(response, from: Half.endpoint(2), at: time)
        guard initiator.isConnected(at: time) else {
            throw BenchmarkError("the handshake did not complete", advice: "This is a fault of the core or the suite.")
        }
        return taken
    }
}
