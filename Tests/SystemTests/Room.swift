import Foundation
import TestSupport
import Testing

/// A part of the right machine with /etc and /run of its own.
struct Room {
    let lab: Lab
    let folder: String
    let holder: Child

    /// A room with a system bus and systemd-resolved; ``ResolverRoom/end(_:)`` must follow.
    static func withResolved(_ lab: Lab) throws -> Room {
        try Room(lab) { ResolverRoom.preparation($0) + ResolverRoom.busStart($0) + ResolverRoom.resolvedStart($0) }
    }

    /// Makes the room by shell commands.
    init(_ lab: Lab, _ commands: (String) -> String) throws {
        self.lab = lab
        folder = lab.folder.appendingPathComponent("room").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = commands(folder) + "\necho ready\nexec sleep 600\n"
        holder = try lab.start(
            on: lab.right, ["unshare", "-m", "--propagation", "private", "sh", "-c", script])
        try holder.waitFor("ready", seconds: 20)
    }

    private var entry: [String] { ["nsenter", "-t", "\(holder.pid)", "-m"] }

    /// A room whose resolver is a file that nobody else looks after.
    static func withResolverFile(_ lab: Lab) throws -> Room {
        try Room(lab) {
            ResolverRoom.privateFolders($0) + """
                rm -f /etc/resolv.conf
                printf 'hosts: files dns\\n' >/etc/nsswitch.conf
                printf 'nameserver 192.0.2.1\\n' >/etc/resolv.conf && chmod 640 /etc/resolv.conf
                """
        }
    }

    /// Runs commands that start something which stays.
    func hold(_ commands: String) throws {
        let child = try lab.start(on: lab.right, entry + ["sh", "-c", commands + "\necho ready\nexec sleep 600\n"])
        try child.waitFor("ready", seconds: 20)
    }

    func run(_ command: String) throws -> String { try attempt(command).text }

    func attempt(_ command: String) throws -> Outcome {
        try Machine.outcome(["ip", "netns", "exec", lab.right.namespace] + entry + ["sh", "-c", command])
    }

    /// Starts a program that is ended with the lab at the latest.
    func start(_ arguments: [String]) throws -> Child { try lab.start(on: lab.right, entry + arguments) }

    /// Starts the tunnel and waits until it is connected.
    func startTunnel(_ pair: TunnelPair, dns: String, _ options: String...) throws -> Child {
        try startTunnel(pair.rightFile(with: "DNS = \(dns)"), options)
    }

    /// Starts the tunnel of a wg-quick file and waits until it is connected.
    func startTunnel(_ text: String, _ options: [String] = []) throws -> Child {
        let child = try start(text, options)
        try child.waitFor("\nconnected phtun")
        return child
    }

    /// Starts the tunnel of a wg-quick file.
    func start(_ text: String, _ options: [String] = []) throws -> Child {
        try lab.beginTunnel(on: lab.right, text, options: options, prefix: entry)
    }

    /// Looks a name up as any program would.
    func ask(_ name: String) throws { _ = try run("timeout 1 getent ahosts \(name)") }
}
