import Foundation
import Glibc

/// A tunnel implementation, run at both ends; forwarding needs one end only.
enum Contender {
    /// `providerhost run` with the WireGuard provider.
    case ours(program: String)
    /// The same with many more peers, each with a session, at the left end, which receives the loads.
    case crowded(program: String, crowd: Crowd)
    /// Our engine with a copy in the cipher's place: the limit that TUN and UDP set. Runs inside this executable.
    case withoutCipher(program: String)
    /// `providerhost run` with the loopback provider at the left end: Swift code that forwards batches and nothing else.
    case forwarding(program: String)
    /// Any program that takes an interface name as wireguard-go does.
    case other(program: String)

    var label: String {
        switch self {
        case .ours: "ours"
        case .crowded(_, let crowd): "with \(figure(Double(crowd.count + 1))) peers"
        case .withoutCipher: "no cipher"
        case .forwarding: "forwarding"
        case .other(let program): URL(fileURLWithPath: program).lastPathComponent
        }
    }

    /// Starts both ends, waits until a ping passes, and returns left and right.
    func start(in lab: Lab, mtu: Int) throws -> [TunnelEnd] {
        let ends =
            if case .forwarding(let program) = self {
                [try startForwarding(program, in: lab, mtu: mtu)]
            } else {
                try startPair(in: lab, mtu: mtu)
            }
        let way = way(in: lab)
        try wait(seconds: 10) {
            try way.client.succeeds("ping", "-c", "1", "-W", "1", "-q", way.target)
        } failure: {
            let tails = ends.map { $0.child.tail }.joined(separator: " || ")
            return BenchmarkError("no ping passes the tunnel of \(label) within 10 s", advice: "Its output: \(tails)")
        }
        if let crowd { try gather(crowd, in: lab) }
        return ends
    }

    /// Where the client of a load runs, and the address by which it reaches the server, which runs at the left end.
    func way(in lab: Lab) -> (client: Machine, target: String) {
        // The loopback provider leads a connection to any other address back to the interface's own.
        if case .forwarding = self { return (lab.left, lab.left.peerInner) }
        return (lab.right, lab.left.inner)
    }

    /// Whether a measure passes: the loopback provider answers datagrams itself.
    func carries(_ measure: TunnelPlan.Measure) -> Bool {
        if case .forwarding = self { return measure != .datagrams }
        return true
    }

    private func startForwarding(_ program: String, in lab: Lab, mtu: Int) throws -> TunnelEnd {
        let file = try lab.write(
            "forwarding.json",
            #"{"IPv4Address": "\#(lab.left.inner)", "IPv4SubnetMask": "255.255.255.0", "MTU": \#(mtu)}"#)
        let child = try lab.start(
            on: lab.left, [program, "run", "--bundle-id", "org.providerhost.loopback", "--config", file])
        try waitFor("a line 'connected'", of: child) { child.text.contains("connected") }
        return TunnelEnd(machine: lab.left, child: child)
    }

    private func startPair(in lab: Lab, mtu: Int) throws -> [TunnelEnd] {
        let keys = try [lab.left, lab.right].map { machine in
            let secret = try machine.run("wg", "genkey").trimmingCharacters(in: .whitespacesAndNewlines)
            let file = try lab.write("\(machine.namespace).key", secret)
            let pipe = "wg pubkey < '\(file)'"
            return (secret, try machine.run("sh", "-c", pipe).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        // Both start before either is waited for: a contender may call itself ready after the handshake only.
        var pending: [() throws -> TunnelEnd] = []
        for (machine, (own, peer)) in [(lab.left, (keys[0].0, keys[1].1)), (lab.right, (keys[1].0, keys[0].1))] {
            pending.append(try startEnd(in: lab, on: machine, secret: own, peer: peer, mtu: mtu))
        }
        return try pending.map { try $0() }
    }

    /// Starts one end and returns what waits for it.
    private func startEnd(
        in lab: Lab, on machine: Machine, secret: String, peer: String, mtu: Int
    ) throws -> () throws -> TunnelEnd {
        let interface = interface(of: machine, in: lab)
        let address = "Address = \(machine.inner)/24\nMTU = \(mtu)\n"
        func configuration(_ extra: String, peers: String = "") throws -> String {
            try lab.write(
                "\(interface).conf",
                """
                [Interface]
                PrivateKey = \(secret)
                ListenPort = 51820
                \(extra)
                [Peer]
                PublicKey = \(peer)
                AllowedIPs = \(machine.peerInner)/32
                Endpoint = \(machine.peerOuter):51820

                \(peers)
                """)
        }
        switch self {
        case .forwarding: preconditionFailure("forwarding has one end")
        case .ours(let program), .crowded(let program, _):
            let file = try configuration(address, peers: machine.inner == lab.left.inner ? crowd?.sections ?? "" : "")
            let child = try lab.start(
                on: machine,
                [program, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file]
                    + ["--interface", interface])
            return {
                try waitFor("a line 'connected'", of: child) { child.text.contains("connected") }
                return TunnelEnd(machine: machine, child: child)
            }
        case .withoutCipher(let program):
            let file = try configuration("MTU = \(mtu)\n")
            let child = try lab.start(on: machine, [program, TunnelEndpoint.verb, interface, file, "--no-cipher"])
            return {
                try waitFor("the interface", of: child) { try machine.succeeds("ip", "link", "show", interface) }
                try raise(interface, on: machine, mtu: mtu)
                return TunnelEnd(machine: machine, child: child)
            }
        case .other(let program):
            let file = try configuration("")
            let socket = "/var/run/wireguard/\(interface).sock"
            let environment = ["env", "WG_PROCESS_FOREGROUND=1", "WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD=1"]
            lab.removeAtEnd(socket)
            let child = try lab.start(on: machine, environment + [program, interface])
            return {
                try waitFor("its control socket \(socket)", of: child) {
                    FileManager.default.fileExists(atPath: socket)
                }
                try machine.run("wg", "setconf", interface, file)
                try raise(interface, on: machine, mtu: mtu)
                return TunnelEnd(machine: machine, child: child)
            }
        }
    }

    private func waitFor(_ what: String, of child: Child, _ condition: () throws -> Bool) throws {
        try wait(seconds: 15) {
            if try condition() { return true }
            guard let ending = child.pollEnding() else { return false }
            var hint = ""
            if case .other = self { hint = " with WG_PROCESS_FOREGROUND=1" }
            throw BenchmarkError(
                "\(label) ended (\(ending)) before \(what) was there",
                advice: "It must stay in the foreground\(hint). Its output: \(child.tail)")
        } failure: {
            BenchmarkError("\(label) did not give \(what) within 15 s", advice: "Its output: \(child.tail)")
        }
    }

    private func raise(_ interface: String, on machine: Machine, mtu: Int) throws {
        try machine.run("ip", "link", "set", interface, "mtu", "\(mtu)", "up")
        try machine.run("ip", "address", "add", "\(machine.inner)/24", "dev", interface)
    }
}

/// One end of a running tunnel.
struct TunnelEnd {
    let machine: Machine
    let child: Child

    /// The process that was started and those that it started.
    var processes: [pid_t] { [child.pid] + ProcessUsage.children(of: child.pid) }

    /// The process that carries the packets: the worker when there is one.
    var worker: pid_t { ProcessUsage.children(of: child.pid).first ?? child.pid }

    var usage: ProcessUsage { processes.map(ProcessUsage.processor).reduce(ProcessUsage(), +) }
}
