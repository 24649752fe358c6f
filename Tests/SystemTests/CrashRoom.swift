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
    /// How often a point is tried.
    private static let attempts = 3

    /// What has happened when a manager was killed.
    struct Case {
        /// Whether it was killed at a call of the kind; nothing else is known where it was not.
        let isHit: Bool
        /// What differs from the machine before, and how long it took until a look began that found no difference.
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

    private var log: String { folder + "/trace" }
    private var entry: [String] { ["nsenter", "-t", "\(holder.pid)", "-m"] }

    /// Everything that a tunnel changes, as text.
    func state() throws -> String {
        let look =
            "cat /etc/resolv.conf; stat -c '%a %u %g' /etc/resolv.conf; ls /etc | grep ^resolv; ls /run/wireguard;"
            + " nft list ruleset"
        let outcome = try Machine.outcome(["ip", "netns", "exec", lab.left.namespace] + entry + ["sh", "-c", look])
        return try lab.left.networkState() + "\n--\n" + outcome.text
    }

    /// Saves a WireGuard profile with addresses, routes, DNS and a kill switch.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - source: Where its settings come from: with `pushPreferred` and no gateway that pushes any, bare ones are updated
    ///     to those of the profile three seconds after the start.
    /// - Throws: That it could not be saved.
    func saveProfile(_ name: String, settings source: String) throws {
        let daemon = try startManager()
        defer { daemon.end() }
        var pair = try TunnelPair()
        pair.endpointAtLeft = true
        let text =
            pair.leftFile.replacing("AllowedIPs = 10.7.0.2/32, fd07::2/128", with: "AllowedIPs = 0.0.0.0/0, ::/0")
            .replacing("[Interface]", with: "[Interface]\n# settings = \(source)\nDNS = 10.7.0.2", maxReplacements: 1)
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

    /// The system calls of a thread of the manager from the start of a profile to the end of its stop.
    func points(of thread: CrashPoint.Thread, _ name: String) throws -> [CrashPoint] {
        try count(thread, name).points
    }

    /// The system calls of an update of the settings that comes three seconds after the start of a profile.
    func updatePoints(of thread: CrashPoint.Thread, _ name: String) throws -> [CrashPoint] {
        let (points, begin, connected) = try count(thread, name)
        return points.filter { $0.time > begin + 2 && $0.time < connected }
    }

    private func count(
        _ thread: CrashPoint.Thread, _ name: String
    ) throws -> (points: [CrashPoint], begin: Double, connected: Double) {
        let daemon = try startManager()
        defer { daemon.end() }
        let begin = Date.now.timeIntervalSince1970
        let (started, trace) = try start(name, on: daemon, tracing: thread)
        try #require(try started.waitForExit(seconds: 20) == 0, "\(daemon.output)")
        let connected = Date.now.timeIntervalSince1970
        try #require(try tool("stop", name, "--wait").status == 0, "\(daemon.output)")
        trace.signal(SIGINT)
        _ = try trace.waitForExit()
        return (CrashPoint.all(of: thread, in: try String(contentsOfFile: log, encoding: .utf8)), begin, connected)
    }

    /// Starts and stops a profile with a manager that is killed at a system call, and lets `providerhost sweep`, or the
    /// start of the next manager, clean up.
    ///
    /// A thread need not make exactly as many calls each time: where it makes fewer than were counted, it is killed at
    /// three quarters of them the next time.
    func kill(at point: CrashPoint, starting name: String, from before: String, sweeps: Bool) throws -> Case {
        var number = point.number
        for _ in 0..<Self.attempts {
            let daemon = try startManager()
            let (started, trace) = try start(
                name, on: daemon, tracing: point.thread,
                [
                    "-e", "trace=\(point.call)", "-e", "inject=\(point.call):signal=KILL:when=\(number)",
                ])
            if try started.waitForExit(seconds: 20) == 0 { _ = try tool("stop", name, "--wait") }
            let isHit = (try? daemon.waitForExit(seconds: 1)) != nil
            daemon.signal(SIGKILL)
            _ = try daemon.waitForExit()
            _ = try trace.waitForExit()
            if isHit { return try cleanUp(to: before, sweeps: sweeps) }
            let made = CrashPoint.all(of: point.thread, in: try String(contentsOfFile: log, encoding: .utf8)).count
            number = max(1, made * 3 / 4)
            _ = try tool("sweep")
        }
        return Case(isHit: false, difference: nil, taken: .zero)
    }

    private func cleanUp(to before: String, sweeps: Bool) throws -> Case {
        let begin = ContinuousClock.now
        var next: Child?
        if sweeps {
            let outcome = try tool("sweep")
            try #require(outcome.status == 0, "\(outcome.text)")
        } else {
            next = try startManager()
        }
        defer { next?.end() }
        // The look takes time of its own; what comes late is told apart from what never comes.
        while true {
            let taken = ContinuousClock.now - begin
            let after = try state()
            if after == before { return Case(isHit: true, difference: nil, taken: taken) }
            guard taken < .seconds(4) else {
                return Case(isHit: true, difference: Self.difference(before, after), taken: taken)
            }
            usleep(50_000)
        }
    }

    private func startManager() throws -> Child {
        let child = try lab.start(on: lab.left, entry + [Lab.providerhost, "daemon"], environment: environment)
        try child.waitFor("The manager listens")
        return child
    }

    /// Lets a client start a profile, with a tracer on a thread of the manager.
    ///
    /// The thread of the session is stopped at its birth until it has its tracer, so that no call is missed.
    private func start(
        _ name: String, on daemon: Child, tracing thread: CrashPoint.Thread, _ options: [String] = []
    ) throws -> (start: Child, trace: Child) {
        func start() throws -> Child {
            try lab.start(
                on: lab.left, entry + ["timeout", "15", Lab.providerhost, "start", name, "--wait"],
                environment: environment)
        }
        let options = ["-ttt", "-o", log] + options
        switch thread {
        case .loop:
            let trace = try attach(to: daemon.pid, options)
            return (try start(), trace)
        case .session:
            let birth = "set_robust_list"
            let nurse = try attach(
                to: daemon.pid, ["-f", "-e", "trace=\(birth)", "-e", "inject=\(birth):signal=STOP:when=1"])
            let started = try start()
            try nurse.waitFor("stopped by SIGSTOP")
            nurse.signal(SIGINT)
            _ = try nurse.waitForExit()
            let trace = try attach(to: try #require(daemon.threads.max()), options)
            daemon.signal(SIGCONT)
            return (started, trace)
        }
    }

    private func attach(to thread: pid_t, _ options: [String]) throws -> Child {
        let trace = try lab.start(on: lab.left, ["strace"] + options + ["-p", "\(thread)"])
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
