/// The summary that ping(8) of iputils prints.
struct PingReport {
    let averageMicroseconds: Double

    /// Reads `rtt min/avg/max/mdev = 0.045/0.067/0.123/0.012 ms`; any loss is an error.
    init(_ text: String) throws {
        guard text.contains(" 0% packet loss") else {
            throw BenchmarkError("pings were lost", advice: "ping says: \(text.split(separator: "\n").suffix(2))")
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("rtt ") || $0.hasPrefix("round-trip ") }
        let values = line?.split(separator: "=").last?.split(separator: "/") ?? []
        guard values.count >= 2, let average = Double(values[1]) else {
            throw BenchmarkError("the output of ping has no summary", advice: "It ends: \(text.suffix(200))")
        }
        averageMicroseconds = average * 1000
    }
}
