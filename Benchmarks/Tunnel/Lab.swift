import Foundation
import Glibc

/// Two machines, `left` and `right`, as network namespaces joined by a veth cable.
///
/// Outside of the tunnel they are 192.0.2.1 and 192.0.2.2, inside 10.7.0.1 and 10.7.0.2. Made for one contender and one
/// run; `remove()` leaves nothing.
final class Lab {
    let left: Machine
    let right: Machine
    /// A folder of the lab's own, readable by its owner only.
    let folder: URL
    private var children: [Child] = []
    private var leftovers: [String] = []

    /// Makes the lab, runs `body`, and removes everything whatever happened.
    static func run<Value>(tunnelMTU: Int, _ body: (Lab) throws -> Value) throws -> Value {
        let lab = try Lab()
        defer { lab.remove() }
        try lab.wire(cableMTU: max(1500, tunnelMTU + 80))
        return try body(lab)
    }

    private init() throws {
        let tag = "phbench-\(getpid())-\(String(UInt16.random(in: 0...UInt16.max), radix: 16))"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(tag)
        left = Machine(namespace: "\(tag)-l", last: 1, peer: 2, folder: folder)
        right = Machine(namespace: "\(tag)-r", last: 2, peer: 1, folder: folder)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    private func wire(cableMTU: Int) throws {
        for machine in [left, right] { try Child.run(["ip", "netns", "add", machine.namespace], in: folder) }
        let mtu = "\(cableMTU)"
        try Child.run(
            ["ip", "link", "add", "cable", "netns", left.namespace, "mtu", mtu, "type", "veth"]
                + ["peer", "name", "cable", "netns", right.namespace, "mtu", mtu], in: folder)
        for machine in [left, right] {
            try machine.run("ip", "link", "set", "lo", "up")
            try machine.run("ip", "address", "add", "\(machine.outer)/24", "dev", "cable")
            try machine.run("ip", "link", "set", "cable", "up")
        }
    }

    /// Starts a program on a machine; it is ended with the lab at the latest.
    func start(on machine: Machine, _ arguments: [String]) throws -> Child {
        let child = try Child(machine.prefix + arguments, in: folder)
        children.append(child)
        return child
    }

    /// Removes a file outside of the lab's folder with the lab, in case the program that made it does not.
    func removeAtEnd(_ path: String) { leftovers.append(path) }

    /// Writes a file into the lab's folder, readable by its owner only.
    func write(_ name: String, _ text: String) throws -> String {
        let path = folder.appendingPathComponent(name).path
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw BenchmarkError("cannot write \(path)", advice: "Is there room in the temporary folder?") }
        return path
    }

    private func remove() {
        for child in children.reversed() { child.end() }
        for machine in [left, right] {
            // A namespace lives as long as a process in it, so what a contender left behind is ended by its number.
            let listed =
                (try? Child.run(
                    ["ip", "netns", "pids", machine.namespace], in: folder, heedingSignals: false)) ?? ""
            for process in listed.split(separator: "\n").compactMap({ pid_t($0) }) { kill(process, SIGKILL) }
            _ = try? Child.run(["ip", "netns", "del", machine.namespace], in: folder, heedingSignals: false)
        }
        for path in leftovers + [folder.path] { try? FileManager.default.removeItem(atPath: path) }
    }
}

/// One network namespace with its addresses.
struct Machine {
    let namespace: String
    let outer: String
    let inner: String
    let peerOuter: String
    let peerInner: String
    private let folder: URL

    init(namespace: String, last: Int, peer: Int, folder: URL) {
        self.namespace = namespace
        outer = "192.0.2.\(last)"
        inner = "10.7.0.\(last)"
        peerOuter = "192.0.2.\(peer)"
        peerInner = "10.7.0.\(peer)"
        self.folder = folder
    }

    /// What puts a command into the namespace.
    ///
    /// `ip` replaces itself, so the process is the program's own.
    var prefix: [String] { ["ip", "netns", "exec", namespace] }

    /// Runs a program inside; throws when it fails.
    @discardableResult
    func run(_ arguments: String..., seconds: Double = 10) throws -> String { try run(arguments, seconds: seconds) }

    /// Runs a program with arguments that were put together; throws when it fails.
    @discardableResult
    func run(_ arguments: [String], seconds: Double) throws -> String {
        try Child.run(prefix + arguments, in: folder, seconds: seconds)
    }

    /// Whether a program that is run inside ends with 0.
    func succeeds(_ arguments: String...) throws -> Bool {
        try Child(prefix + arguments, in: folder).wait(seconds: 10) == .status(0)
    }
}
