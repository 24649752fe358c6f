import Foundation
import Testing

/// A victim at the left, and an adversary at the right that is a peer of it: the attacker of `Benchmarks attack`.
struct AttackScene {
    /// What an attack sent, and what must come of it.
    struct Report: Decodable {
        let sent: Int
        let drops: [String: Int]
        let acceptedBytes: Int
        let seconds: Double
    }

    let victim: Child
    /// The victim's public key.
    let victimKey: String
    private let lab: Lab
    private let interface = uniqueInterface()
    private let adversaryFile: String

    /// Starts the victim.
    ///
    /// - Parameters:
    ///   - lab: The machines.
    ///   - peers: Sections of the victim's further peers.
    /// - Throws: What failed.
    init(_ lab: Lab, peers: String = "") throws {
        self.lab = lab
        let pair = try TunnelPair()
        adversaryFile = try lab.write("adversary.conf", pair.rightFile)
        victim = try lab.startTunnel(on: lab.left, pair.leftFile + peers, options: ["--interface", interface])
        victimKey = pair.left.publicKey
    }

    /// What the victim dropped, by reason, when that is what is waited for, or else after some seconds.
    func drops(until isSettled: ([String: Int]) -> Bool) throws -> [String: Int] {
        for _ in 0..<30 {
            let drops = try drops()
            if isSettled(drops) { return drops }
            usleep(100_000)
        }
        return try drops()
    }

    /// What the victim dropped until now; reasons without any are left out.
    private func drops() throws -> [String: Int] {
        let prefix = "providerhost_dropped_packets_total{interface=\"\(interface)\",reason=\""
        let lines = try lab.left(Lab.providerhost, "metrics").split(separator: "\n").filter { $0.hasPrefix(prefix) }
        try #require(!lines.isEmpty)
        var drops: [String: Int] = [:]
        for line in lines {
            let parts = line.dropFirst(prefix.count).split(separator: "\"} ")
            let reason: Substring = try #require(parts.first)
            let count: Int = try #require(parts.last.flatMap { Int($0) })
            if count != 0 { drops[String(reason)] = count }
        }
        return drops
    }

    /// The bytes that the victim took from the adversary.
    func receivedBytes() throws -> Int {
        let line = try lab.left("wg", "show", interface, "transfer").split(separator: "\n").first
        return try #require(line?.split(separator: "\t").dropFirst().first.flatMap { Int($0) })
    }

    /// Starts an attack; the words are those of the hidden verb `blast` of Benchmarks.
    func start(_ words: String...) throws -> Child {
        let program = Lab.buildFolder.appendingPathComponent("Benchmarks").path
        return try lab.start(on: lab.right, [program, "blast", adversaryFile] + words)
    }

    /// Waits for the end of an attack.
    func finish(_ attack: Child) throws -> Report {
        try #require(try attack.waitForExit(seconds: 90) == 0, "\(attack.output)")
        return try JSONDecoder().decode(Report.self, from: Data(attack.output.utf8))
    }

    /// Kilobytes of the victim's worker.
    func memory() throws -> Int {
        let worker = try #require(victim.childProcesses().first)
        let status = try String(contentsOfFile: "/proc/\(worker)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return try #require(
            line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().first.flatMap { Int($0) })
    }
}
