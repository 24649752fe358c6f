import Foundation
import Testing

/// The tests that need namespaces and TUN devices run as root only.
let isRoot = geteuid() == 0

extension Lab {
    /// Starts `providerhost run` and waits until it says that it is connected.
    func startTunnel(
        on machine: Machine, _ configuration: String, name: String = UUID().uuidString, options: [String] = [],
        environment: [String: String] = [:], prefix: [String] = []
    ) throws -> Child {
        let child = try beginTunnel(
            on: machine, configuration, name: name, options: options, environment: environment, prefix: prefix)
        try child.waitFor("connected ")
        return child
    }

    /// Starts `providerhost run`, and does not wait for anything.
    func beginTunnel(
        on machine: Machine, _ configuration: String, name: String = UUID().uuidString, options: [String] = [],
        environment: [String: String] = [:], prefix: [String] = []
    ) throws -> Child {
        let file = try write("\(name).conf", configuration)
        return try start(
            on: machine,
            prefix + [Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file] + options,
            environment: environment)
    }

    /// Starts both ends as ours and waits until a ping passes; left and right.
    ///
    /// The control sockets of all namespaces lie in one folder, where a `wg show` of another test would find and wake
    /// these. `ip netns exec` gives a program mounts of its own, so each end has that folder to itself.
    func startBoth(_ pair: TunnelPair) throws -> [Child] {
        let folder = "/run/wireguard"
        let alone = ["sh", "-c", "mkdir -p \(folder) && mount -t tmpfs none \(folder) && exec \"$@\"", "sh"]
        let ends = try [(left, pair.leftFile), (right, pair.rightFile)].map { machine, file in
            try startTunnel(on: machine, file, prefix: alone)
        }
        try right.ping("10.7.0.1", count: 1)
        return ends
    }

    /// Starts Debian's wireguard-go with addresses as in ``TunnelPair`` and the routes of its own subnets.
    func startPeer(on machine: Machine, _ plain: String, last: Int, mtu: Int? = nil) throws -> (Child, String) {
        let interface = "wg\(UInt32.random(in: 0...99_999_999))"
        let child = try start(
            on: machine, ["wireguard-go", "-f", interface],
            environment: ["WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD": "1"])
        try eventually("the control socket of wireguard-go") {
            FileManager.default.fileExists(atPath: "/var/run/wireguard/\(interface).sock")
        }
        try machine("wg", "setconf", interface, write("\(interface).conf", plain))
        if let mtu { try machine("ip", "link", "set", interface, "mtu", "\(mtu)") }
        try machine("ip", "address", "add", "10.7.0.\(last)/24", "dev", interface)
        try machine("ip", "address", "add", "fd07::\(last)/64", "dev", interface, "nodad")
        try machine("ip", "link", "set", interface, "up")
        return (child, interface)
    }
}

extension Machine {
    /// Pings and requires that every answer comes.
    func ping(_ address: String, count: Int = 3, size: Int = 56, wait: Int = 5) throws {
        let outcome = try attempt(
            "ping", "-c", "\(count)", "-i", "0.1", "-W", "\(wait)", "-s", "\(size)", "-M", "do", address)
        try #require(
            outcome.status == 0 && outcome.text.contains(" 0% packet loss"), "ping \(address): \(outcome.text)")
    }

    /// Whether one ping is answered within a second.
    func reaches(_ address: String) throws -> Bool {
        try attempt("ping", "-c", "1", "-W", "1", address).status == 0
    }
}
