import Foundation
import Testing

/// Two tunnels' ends as WireGuard's own scripts set them up: each interface lies inside a machine of its own, and its
/// sockets stay outside, in the namespace where its program was started.
///
/// ```
///   first (192.168.241.1, fd00::1) ──▷ sockets on 10000        sockets on 20000 ◁── second (192.168.241.2, fd00::2)
/// ```
final class Scene {
    /// One end.
    struct End {
        let interface: String
        /// Where the interface is.
        let machine: Machine
        let keys: KeyPair
        let last: Int
        let port: Int
        let child: Child
    }

    /// Which programs serve the two ends.
    struct Programs: CustomTestStringConvertible {
        let first: DropIn
        let second: DropIn
        var testDescription: String { "\(first.rawValue) and \(second.rawValue)" }

        static let all = [
            Programs(first: .ours, second: .ours), Programs(first: .ours, second: .wireguardGo),
            Programs(first: .wireguardGo, second: .ours),
        ]
    }

    let lab: Lab
    let first: End
    let second: End

    /// Makes both ends, keyed and up, without endpoints.
    ///
    /// - Parameters:
    ///   - lab: The machines.
    ///   - programs: Who serves the ends.
    ///   - birth: Where each program is started.
    ///   - homes: Where each interface is moved to.
    /// - Throws: What the first program said that failed.
    init(_ lab: Lab, _ programs: Programs, birth: (Machine, Machine), homes: (Machine, Machine)) throws {
        self.lab = lab
        func end(_ program: DropIn, _ birth: Machine, _ home: Machine, last: Int, port: Int) throws -> End {
            let interface = uniqueInterface()
            let child = try lab.make(program, interface, on: birth)
            if birth.namespace != home.namespace {
                try birth("ip", "link", "set", interface, "netns", home.namespace)
            }
            return End(interface: interface, machine: home, keys: try KeyPair(), last: last, port: port, child: child)
        }
        first = try end(programs.first, birth.0, homes.0, last: 1, port: 10000)
        second = try end(programs.second, birth.1, homes.1, last: 2, port: 20000)
        let preshared = try lab.keyFile(KeyPair().privateKey)
        for (own, peer) in [(first, second), (second, first)] {
            try own.machine("ip", "address", "add", "192.168.241.\(own.last)/24", "dev", own.interface)
            try own.machine("ip", "address", "add", "fd00::\(own.last)/112", "dev", own.interface, "nodad")
            try Machine.host(
                "wg", "set", own.interface, "private-key", lab.keyFile(own.keys.privateKey), "listen-port",
                "\(own.port)", "peer", peer.keys.publicKey, "preshared-key", preshared, "allowed-ips",
                "192.168.241.\(peer.last)/32,fd00::\(peer.last)/128")
            try own.machine("ip", "link", "set", own.interface, "up")
        }
        sleep(1)
    }

    /// Runs `body` with both interfaces in machines of their own and all sockets on the loopback interface of a third one.
    static func aroundLoopback(_ programs: Programs, _ body: (Scene, Machine) throws -> Void) throws {
        try Lab.run { lab in
            let outside = lab.left
            let homes = try (lab.addMachine(), lab.addMachine())
            try body(try Scene(lab, programs, birth: (outside, outside), homes: homes), outside)
        }
    }

    /// Changes what one end says of the other.
    func set(_ own: End, _ arguments: String...) throws {
        let peer = own.last == 1 ? second : first
        let outcome = try Machine.outcome(["wg", "set", own.interface, "peer", peer.keys.publicKey] + arguments)
        try #require(outcome.status == 0, "\(outcome.text)")
    }

    /// Where one end sees the other.
    func endpoint(at own: End) throws -> String {
        let line = try Machine.host("wg", "show", own.interface, "endpoints")
        return line.split(separator: "\t").last.map { $0.trimmingCharacters(in: .newlines) } ?? ""
    }

    /// What `iperf3` moves from one end to the other arrives.
    func transfer(from sender: End, to address: String, at receiver: End, _ options: String...) throws {
        let server = try lab.start(on: receiver.machine, ["iperf3", "-s", "-1", "-B", address])
        try eventually("iperf3") { try !receiver.machine("ss", "-Htln", "sport = :5201").isEmpty }
        let outcome = try Machine.outcome(
            ["ip", "netns", "exec", sender.machine.namespace, "timeout", "-s", "KILL", "60", "iperf3", "-c", address]
                + options)
        try #require(outcome.status == 0, "\(outcome.text)")
        _ = try server.waitForExit()
    }
}
