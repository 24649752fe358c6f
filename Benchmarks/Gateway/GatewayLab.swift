import Foundation
import GatewayRegistry
import Glibc
import WireGuard

/// A gateway at the left with many peers in its registry, started by the program as an operator does it.
final class GatewayLab {
    /// What must hold, or the suite fails.
    private enum Bar {
        static let hellosPerSecond = 2_000.0
        static let memoryMegabytes = 50.0
        static let leases = 10_000
    }

    private static let port: UInt16 = 51_820
    private static let rate = "HELLOs answered"
    private static let memory = "memory with the leases"
    /// After this many seconds the gateway has written leases down, which it does every twenty.
    private static let leaseWriting = 24.0

    private let lab: Lab
    private let count: Int
    private let clientFile: String
    private let child: Child
    private let connected: ContinuousClock.Instant

    /// Writes the registry and starts the gateway.
    init(_ lab: Lab, program: String, peers count: Int) throws {
        self.lab = lab
        self.count = count
        var keys = CountingRandom()
        let secret = PrivateKey(keys.nextKey())
        let state = lab.folder.appendingPathComponent("state").path
        try Registry.create(in: state, Self.contents(secret: secret, endpoint: lab.left.outer, peers: count))
        clientFile = try lab.write(
            "client.conf",
            """
            [Interface]
            PrivateKey = \(CrowdMember.secret(0).base64)
            [Peer]
            PublicKey = \(secret.publicKey)
            AllowedIPs = 0.0.0.0/0
            Endpoint = \(lab.left.outer):\(Self.port)

            """)
        child = try lab.start(
            on: lab.left,
            ["env", "PROVIDERHOST_STATE_DIR=\(state)", program, "gateway", "run", "--interface", "phg\(getpid())"])
        try wait(seconds: 30) { [child] in
            guard child.pollEnding() == nil else {
                throw BenchmarkError("the gateway ended before it was connected", advice: "Its output: \(child.tail)")
            }
            return child.text.contains("connected")
        } failure: { [child] in
            BenchmarkError("the gateway did not connect within 30 s", advice: "Its output: \(child.tail)")
        }
        connected = .now
    }

    /// A registry with a lease of each family for every peer of a crowd.
    private static func contents(secret: PrivateKey, endpoint: String, peers count: Int) throws -> RegistryContents {
        guard let endpoint = Configuration.PeerEndpoint("\(endpoint):\(port)") else {
            preconditionFailure("an address and a port are an endpoint")
        }
        let gateway = Gateway(privateKey: secret, listenPort: port, endpoint: endpoint, epoch: 1)
        var contents = try RegistryContents(gateway: gateway, pools: prefixes(["10.16.0.0/12", "fd07::/64"]))
        for route in prefixes((0..<8).map { "172.16.\($0).0/24" }) {
            try contents.addRoute(route, .included, for: .gateway)
        }
        var random = SystemRandomNumberGenerator()
        for number in 0..<count {
            let peer = GatewayPeer(
                name: "peer\(number)", publicKey: CrowdMember.secret(number).publicKey, presharedKey: nil, group: nil,
                siteSubnets: [])
            try contents.addPeer(peer, now: Int64(Date.now.timeIntervalSince1970), random: &random)
        }
        return contents
    }

    private static func prefixes(_ texts: [String]) -> [IPPrefix] { texts.compactMap { IPPrefix($0) } }

    /// Has every peer connect and ask, and adds what came of it.
    func measure(window: Int, into report: inout Report) throws {
        let subject = "\(figure(Double(count))) peers"
        let processes = [child.pid] + ProcessUsage.children(of: child.pid)
        let worker = processes.last ?? child.pid
        let idle = try memory(of: worker)
        let text = try lab.right.run(
            [executable.path, HelloCrowd.verb, clientFile, "\(count)", "\(window)"] + processes.map { "\($0)" },
            seconds: 60 + Double(count) / 50)
        let hellos = try JSONDecoder().decode(HelloReport.self, from: Data(text.utf8))
        report.add(Double(hellos.answered) / hellos.seconds, Self.rate, unit: "1/s", subject: subject)
        report.add(Double(hellos.repeated), "HELLOs sent again", unit: "", subject: subject)
        report.add(
            hellos.processorSeconds * 1e6 / Double(hellos.answered), "CPU of a HELLO, writing included", unit: "us",
            subject: subject)
        let busy = try memory(of: worker)
        Thread.sleep(forTimeInterval: max(0, (connected + .seconds(Self.leaseWriting) - .now) / .seconds(1)))
        let later = try memory(of: worker)
        for (usage, name) in [
            (idle, Self.memory), (busy, "\(Self.memory), a session for each"),
            (later, "\(Self.memory), sessions, leases written"),
        ] {
            report.add(usage.resident, name, unit: "MB", subject: subject)
            report.add(usage.anonymous, "\(name): anonymous", unit: "MB", subject: subject)
        }
    }

    private func memory(of process: pid_t) throws -> MemoryUsage {
        guard let usage = MemoryUsage.of(process) else {
            throw BenchmarkError("the gateway is gone", advice: "Its output: \(child.tail)")
        }
        return usage
    }

    /// Fails the report where a median is beyond its bar.
    static func check(_ report: inout Report) {
        for subject in report.subjects {
            if let rate = report.median(rate, unit: "1/s", subject: subject), rate < Bar.hellosPerSecond {
                report.failures.append("\(figure(rate)) HELLOs a second were answered with \(subject)")
            }
        }
        let subject = "\(figure(Double(Bar.leases))) peers"
        if let memory = report.median(memory, unit: "MB", subject: subject), memory > Bar.memoryMegabytes {
            report.failures.append("\(subject) take \(figure(memory)) MB")
        }
    }
}
