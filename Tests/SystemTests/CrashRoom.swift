import Control
import Foundation
import ProviderKit
import Testing

/// The left machine of a lab with an /etc and a /run of its own, in which managers are killed at a chosen system call.
final class CrashRoom {
    let lab: Lab
    private let holder: Child
    private let environment: [String: String]
    private let folder: String

    /// What has happened when a manager was killed.
    struct Case {
        /// Whether it was killed before the tunnel was stopped again.
        let isHit: Bool
        /// What differs from the machine before, and how long the clean-up took.
        let difference: String?
        let taken: Duration
    }

    /// Makes the room; in containers resolv.conf is a mount of its own.
    init(_ lab: Lab, hasMountedFile: Bool) throws {
        self.lab = lab
        folder = lab.folder.appendingPathComponent("room").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        environment = [
            "PROVIDERHOST_STATE_DIR": folder + "/state", "PROVIDERHOST_RUNTIME_DIR": folder + "/run",
        ]
        let mounted = """
            cp /etc/resolv.conf \(folder)/resolv.conf
            mount --bind \(folder)/resolv.conf /etc/resolv.conf

            """
        let script = """
            set -e
            mount --make-rprivate /
            mkdir -p \(folder)/etc && cp -a /etc/. \(folder)/etc/ && mount --bind \(folder)/etc /etc
            mount -t tmpfs tmpfs /run && mkdir -p /run/wireguard
            rm -f /etc/resolv.conf*
            printf 'nameserver 192.0.2.1\\n' >/etc/resolv.conf && chmod 640 /etc/resolv.conf
            \(hasMountedFile ? mounted : "")
            # A kernel setting bears no mark of who changed it, so it stays.
            sysctl -q net.ipv4.conf.all.src_valid_mark=1
            echo ready
            exec sleep 3600
            """
        holder = try lab.start(on: lab.left, ["unshare", "-m", "--propagation", "private", "sh", "-c", script])
        try holder.waitFor("ready", seconds: 20)
    }

    private var entry: [String] { ["nsenter", "-t", "\(holder.pid)", "-m"] }

    /// Everything that a tunnel changes, as text.
    func state() throws -> String {
        let look =
            "cat /etc/resolv.conf; stat -c '%a %u %g' /etc/resolv.conf; ls /etc | grep ^resolv; ls /run/wireguard;"
            + " nft list ruleset"
        let outcome = try Machine.outcome(["ip", "netns", "exec", lab.left.namespace] + entry + ["sh", "-c", look])
        return try lab.left.networkState() + "\n--\n" + outcome.text
    }

    /// Saves a WireGuard profile with addresses, routes, DNS and a kill switch, whose settings come in two steps: bare, then
    /// those of the profile when no gateway has pushed any.
    func saveProfile(_ name: String) throws {
        let daemon = try startManager()
        defer { daemon.end() }
        var pair = try TunnelPair()
        pair.endpointAtLeft = true
        let text =
            pair.leftFile.replacing("AllowedIPs = 10.7.0.2/32, fd07::2/128", with: "AllowedIPs = 0.0.0.0/0, ::/0")
            .replacing(
                "[Interface]", with: "[Interface]\n# settings = pushPreferred\nDNS = 10.7.0.2", maxReplacements: 1)
        let file = try lab.write("\(name).conf", text)
        let imported = try tool("profile", "import", file, "--name", name)
        try #require(imported.status == 0, "\(imported.text)")
        let client = ManagerClient(application: nil, socketPath: folder + "/run/manager")
        let listing = try client.call(
            .list, ManagerMessages.Application(application: nil), reply: ManagerMessages.Listing.self)
        var configuration = try #require(listing.configurations.first { $0.label == name })
        var provider = try #require(configuration.tunnelProvider)
        provider.includeAllNetworks = true
        configuration.content.protocolConfiguration = .tunnelProvider(provider)
        _ = try client.call(
            .save, ManagerMessages.Save(configuration: configuration, secrets: nil), reply: ManagerMessages.Saved.self)
    }

    /// How many calls the busiest thread of a manager makes while the profile is started and stopped, by name.
    func countCalls(_ name: String) throws -> [String: Int] {
        let daemon = try startManager()
        defer { daemon.end() }
        let log = folder + "/trace"
        let trace = try attach(to: daemon, ["-o", log])
        try #require(try startAndStop(name), "\(daemon.output)")
        trace.signal(SIGINT)
        _ = try trace.waitForExit()
        var counts: [Substring: [String: Int]] = [:]
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard words.count == 2, let end = words[1].firstIndex(of: "(") else { continue }
            let call = String(words[1].drop { $0 == " " }[..<end])
            guard call.allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "_" }) else { continue }
            counts[words[0], default: [:]][call, default: 0] += 1
        }
        return counts.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
    }

    /// Starts and stops a profile with a manager that is killed at the `index`-th call of a kind that one of its threads
    /// makes, and lets `providerhost sweep`, or the start of the next manager, clean up.
    func kill(
        at calls: String, _ index: Int, starting name: String, from before: String, sweeps: Bool
    ) throws -> Case {
        let daemon = try startManager()
        let trace = try attach(
            to: daemon, ["-e", "trace=\(calls)", "-e", "inject=\(calls):signal=KILL:when=\(index)", "-o", "/dev/null"])
        let isHit = try !startAndStop(name)
        daemon.signal(SIGKILL)
        _ = try daemon.waitForExit()
        _ = try trace.waitForExit()
        let begin = ContinuousClock.now
        var next: Child?
        if sweeps {
            let outcome = try tool("sweep")
            try #require(outcome.status == 0, "\(outcome.text)")
        } else {
            next = try startManager()
        }
        defer { next?.end() }
        var after = try state()
        // What comes late is told apart from what never comes.
        while after != before, ContinuousClock.now - begin < .seconds(4) {
            usleep(50_000)
            after = try state()
        }
        return Case(
            isHit: isHit, difference: after == before ? nil : Self.difference(before, after),
            taken: ContinuousClock.now - begin)
    }

    /// Starts and stops the profile; false when the manager died meanwhile.
    private func startAndStop(_ name: String) throws -> Bool {
        try tool("start", name, "--wait").status == 0 && tool("stop", name, "--wait").status == 0
    }

    private func startManager() throws -> Child {
        let child = try lab.start(on: lab.left, entry + [Lab.providerhost, "daemon"], environment: environment)
        try child.waitFor("The manager listens")
        return child
    }

    /// Traces every thread of a manager, and none of its workers.
    private func attach(to daemon: Child, _ arguments: [String]) throws -> Child {
        let trace = try lab.start(
            on: lab.left, ["strace", "-f", "-b", "execve"] + arguments + ["-p", "\(daemon.pid)"])
        try trace.waitFor("attached")
        return trace
    }

    private func tool(_ arguments: String...) throws -> Outcome {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        return try Machine.outcome(
            ["ip", "netns", "exec", lab.left.namespace] + entry + ["env"] + variables + [
                "timeout", "15", Lab.providerhost,
            ]
                + arguments)
    }

    private static func difference(_ before: String, _ after: String) -> String {
        let (old, new) = (before.split(separator: "\n"), after.split(separator: "\n"))
        return (old.filter { !new.contains($0) }.map { "- \($0)" } + new.filter { !old.contains($0) }.map { "+ \($0)" })
            .joined(separator: "; ")
    }
}
