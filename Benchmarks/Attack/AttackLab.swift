import Foundation
import Glibc

/// A victim at the left; at the right a bystander that has a tunnel with it, the adversary, and peers that come later.
final class AttackLab {
    /// How many peers may come later.
    static let newcomers = 1...5
    private static let port = 51_820
    private static let sinkPort = 51_999
    private static let serverPort = "5201"

    private let lab: Lab
    private let program: String
    private let victim: Child
    private let victimKey: String
    private let secrets: [String]
    private let adversaryFile: String
    /// The victim's interface, whose name no other tunnel of the machine has.
    private let interface = "pha\(getpid())"

    /// Starts the victim and the bystander, and waits until a ping passes.
    ///
    /// - Parameters:
    ///   - lab: The machines.
    ///   - program: `providerhost`.
    /// - Throws: What a program said that failed.
    init(_ lab: Lab, program: String) throws {
        self.lab = lab
        self.program = program
        // The victim, the adversary, the bystander, and those that come later.
        let keys = try (0..<3 + Self.newcomers.count).map { try Self.keyPair(in: lab, "\($0).key") }
        secrets = keys.map(\.secret)
        victimKey = keys[0].name
        let inner = ["10.8.0.2/32", "10.7.0.2/32"] + Self.newcomers.map { "10.9.\($0).2/32" }
        let peers = zip(keys.dropFirst(), inner).map { "[Peer]\nPublicKey = \($0.name)\nAllowedIPs = \($1)\n" }
        let own = ["10.7.0.1/24", "10.8.0.1/24"] + Self.newcomers.map { "10.9.\($0).1/24" }
        adversaryFile = try lab.write(
            "adversary.conf", Self.peerFile(keys[1].secret, "10.8.0.2/24", keys[0].name, "10.8.0.1", lab.left.outer))
        let file = try lab.write(
            "victim.conf",
            "[Interface]\nPrivateKey = \(keys[0].secret)\nListenPort = \(Self.port)\n"
                + "Address = \(own.joined(separator: ", "))\n" + peers.joined())
        victim = try lab.start(
            on: lab.left,
            [program, "run", "--bundle-id", "org.providerhost.wireguard", "--interface", interface, "--config", file])
        try Self.waitUntilConnected(victim)
        // The addresses of the strangers, and the way back to them.
        try lab.right.run("ip", "route", "add", "local", "198.18.0.0/16", "dev", "lo")
        try lab.left.run("ip", "route", "add", "198.18.0.0/16", "via", lab.right.outer)
        try startPeer("bystander", keys[2].secret, inner: "10.7.0", outer: lab.left.outer)
        try lab.right.run("ping", "-c", "1", "-W", "5", "-q", "10.7.0.1")
    }

    /// Megabytes that the victim's worker has in memory.
    func victimMemory() throws -> Double {
        guard let worker = ProcessUsage.children(of: victim.pid).first, let memory = MemoryUsage.of(worker) else {
            throw BenchmarkError("the victim has died", advice: "Its output: \(victim.tail)")
        }
        return memory.resident
    }

    /// What the victim dropped until now, by reason.
    func drops() throws -> [String: Int] {
        let metrics = try lab.left.run(program, "metrics")
        var drops: [String: Int] = [:]
        for line in metrics.split(separator: "\n") {
            guard line.hasPrefix("providerhost_dropped_packets_total{interface=\"\(interface)\"") else { continue }
            let parts = line.split(separator: "\"")
            guard parts.count == 5, let count = Int(parts[4].drop { $0 == "}" || $0 == " " }) else { continue }
            drops[String(parts[3])] = count
        }
        guard !drops.isEmpty else {
            throw BenchmarkError("the victim has no metrics", advice: "Its output: \(victim.tail)")
        }
        return drops
    }

    /// Starts the attacker's process; see ``Blast`` for the words.
    func blast(_ words: String...) throws -> Child {
        try lab.start(on: lab.right, [executable.path, Blast.verb, adversaryFile] + words)
    }

    /// Waits for the attacker's end, and until the victim is over it, and returns its report.
    func finish(_ attacker: Child, seconds: Double = 60) throws -> BlastReport {
        guard try attacker.wait(seconds: seconds) == .status(0),
            let report = try? JSONDecoder().decode(BlastReport.self, from: Data(attacker.text.utf8))
        else { throw BenchmarkError("the attacker failed", advice: "Its output: \(attacker.tail)") }
        // Load is remembered for a second, and the next attacker is to be answered without a cookie.
        usleep(1_200_000)
        return report
    }

    /// Runs `body` with a sink beside the victim, whose address it gets.
    func withSink<Value>(_ body: (String) throws -> Value) throws -> Value {
        let sink = try lab.start(on: lab.left, [executable.path, Sink.verb, "\(Self.sinkPort)"])
        defer { sink.end() }
        try waitForSocket("-Huln", port: "\(Self.sinkPort)")
        return try body("\(lab.left.outer):\(Self.sinkPort)")
    }

    /// What the bystander sends to the victim by one TCP stream, in Gb/s: all that goes, or at this pace.
    func bystandersThroughput(seconds: Int, pace: Double? = nil) throws -> Double {
        let server = try lab.start(on: lab.left, ["iperf3", "-s", "-1", "-B", "10.7.0.1", "-p", Self.serverPort])
        defer { server.end() }
        try waitForSocket("-Htln", port: Self.serverPort)
        let client = try lab.start(
            on: lab.right,
            ["iperf3", "-c", "10.7.0.1", "-p", Self.serverPort, "-t", "\(seconds)", "-J"]
                + (pace.map { ["-b", "\(Int($0 * 1e9))"] } ?? []))
        _ = try client.wait(seconds: Double(seconds) + 20)
        return try IperfReport(client.text).gigabits
    }

    /// Milliseconds from the first packet of a peer that was never there before to the answer to it.
    func connect(newcomer number: Int) throws -> Double {
        // An outer address of its own: to the victim it is a source that was quiet.
        let outer = "198.51.100.\(4 * number + 1)"
        try lab.left.run("ip", "address", "add", "\(outer)/30", "dev", "cable")
        try lab.right.run("ip", "address", "add", "198.51.100.\(4 * number + 2)/30", "dev", "cable")
        let secret = secrets[2 + number]
        let child = try startPeer("newcomer-\(number)", secret, inner: "10.9.\(number)", outer: outer)
        defer { child.end() }
        let output = try lab.right.run("ping", "-c", "1", "-W", "15", "-q", "10.9.\(number).1", seconds: 20)
        return try PingReport(output).averageMicroseconds / 1000
    }

    /// One more packet through the tunnel, which tells the victim how many the kernel had no room for.
    func ping() throws { _ = try lab.right.succeeds("ping", "-c", "1", "-W", "2", "-q", "10.7.0.1") }

    @discardableResult
    private func startPeer(_ name: String, _ secret: String, inner: String, outer: String) throws -> Child {
        let file = try lab.write(
            "\(name).conf", Self.peerFile(secret, "\(inner).2/24", victimKey, "\(inner).1", outer))
        let child = try lab.start(
            on: lab.right, [program, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file])
        try Self.waitUntilConnected(child)
        return child
    }

    private func waitForSocket(_ options: String, port: String) throws {
        try wait(seconds: 5) {
            try !lab.left.run("ss", options, "sport = :\(port)").isEmpty
        } failure: {
            BenchmarkError("nobody listens on port \(port)", advice: "Is the machine overloaded?")
        }
    }

    private static func keyPair(in lab: Lab, _ file: String) throws -> (secret: String, name: String) {
        let secret = try lab.left.run("wg", "genkey").trimmingCharacters(in: .whitespacesAndNewlines)
        let path = try lab.write(file, secret)
        let name = try lab.left.run("sh", "-c", "wg pubkey < '\(path)'").trimmingCharacters(in: .whitespacesAndNewlines)
        return (secret, name)
    }

    private static func peerFile(
        _ secret: String, _ address: String, _ victim: String, _ inner: String, _ outer: String
    ) -> String {
        """
        [Interface]
        PrivateKey = \(secret)
        Address = \(address)
        [Peer]
        PublicKey = \(victim)
        AllowedIPs = \(inner)/32
        Endpoint = \(outer):\(port)

        """
    }

    private static func waitUntilConnected(_ child: Child) throws {
        try wait(seconds: 15) {
            child.text.contains("connected")
        } failure: {
            BenchmarkError("a tunnel does not start", advice: "Its output: \(child.tail)")
        }
    }
}
