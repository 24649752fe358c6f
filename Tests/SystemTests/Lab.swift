import Foundation
import Testing

/// Two machines, `left` and `right`, as network namespaces joined by a cable; made for one test and gone after it.
///
/// Addresses: left 192.0.2.1/24 and 2001:db8::1/64, right 192.0.2.2/24 and 2001:db8::2/64.
final class Lab {
    let left: Machine
    let right: Machine
    /// A folder of the test's own, removed with the lab.
    let folder: URL
    private var children: [Child] = []
    /// Machines beyond the two, without any cable.
    private var others: [Machine] = []

    /// The folder that SwiftPM built into: the tests' own executable lies in it.
    static let buildFolder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()
    static let providerhost = buildFolder.appendingPathComponent("providerhost").path

    /// Makes the machines, runs `body`, and removes everything whatever happened.
    static func run(mtu: Int = 1500, _ body: (Lab) throws -> Void) throws {
        let lab = try open(mtu: mtu)
        defer { lab.close() }
        try body(lab)
    }

    /// Makes the machines; ``close()`` must follow.
    static func open(mtu: Int = 1500) throws -> Lab { try Lab(mtu: mtu) }

    private init(mtu: Int) throws {
        let tag = "ph\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(tag)
        left = Machine(namespace: "\(tag)-l")
        right = Machine(namespace: "\(tag)-r")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for machine in [left, right] {
            try Machine.host("ip", "netns", "add", machine.namespace)
            try machine("ip", "link", "set", "lo", "up")
        }
        try Machine.host(
            "ip", "link", "add", "cable", "netns", left.namespace, "mtu", "\(mtu)", "type", "veth",
            "peer", "name", "cable", "netns", right.namespace, "mtu", "\(mtu)")
        for (machine, last) in [(left, 1), (right, 2)] {
            try machine("ip", "address", "add", "192.0.2.\(last)/24", "dev", "cable")
            try machine("ip", "address", "add", "2001:db8::\(last)/64", "dev", "cable", "nodad")
            try machine("ip", "link", "set", "cable", "up")
        }
        // The kernel brings the cable up in its own time, and what a test compares shall not change with that.
        try eventually("the cable") {
            try [left, right].allSatisfy { try $0("ip", "-br", "link", "show", "cable").contains(" UP ") }
        }
    }

    /// Makes another machine, which has its loopback interface only.
    func addMachine() throws -> Machine {
        let machine = Machine(namespace: "\(folder.lastPathComponent)-\(others.count)")
        try Machine.host("ip", "netns", "add", machine.namespace)
        others.append(machine)
        try machine("ip", "link", "set", "lo", "up")
        return machine
    }

    /// Makes another machine with a cable to the left one: there `uplink` with 203.0.113.1/24 and 2001:db8:1::1/64, here
    /// `cable` with 203.0.113.9/24 and 2001:db8:1::9/64.
    func addNeighbour() throws -> Machine {
        let machine = try addMachine()
        try Machine.host(
            "ip", "link", "add", "uplink", "netns", left.namespace, "type", "veth", "peer", "name", "cable", "netns",
            machine.namespace)
        for (machine, name, last) in [(left, "uplink", 1), (machine, "cable", 9)] {
            try machine("ip", "address", "add", "203.0.113.\(last)/24", "dev", name)
            try machine("ip", "address", "add", "2001:db8:1::\(last)/64", "dev", name, "nodad")
            try machine("ip", "link", "set", name, "up")
        }
        try machine.ping("203.0.113.1", count: 1)
        return machine
    }

    /// Ends every program and removes everything.
    func close() {
        for child in children { child.end() }
        for machine in [left, right] + others { _ = try? Machine.host("ip", "netns", "del", machine.namespace) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts a program on a machine; it is ended with the lab at the latest.
    func start(on machine: Machine, _ arguments: [String], environment: [String: String] = [:]) throws -> Child {
        let state = ["PROVIDERHOST_STATE_DIR": folder.appendingPathComponent(machine.namespace).path]
        let child = try Child(
            ["ip", "netns", "exec", machine.namespace] + arguments, environment: state.merging(environment) { $1 },
            log: folder.appendingPathComponent("child-\(children.count).log"))
        children.append(child)
        return child
    }

    /// Writes a file into the lab's folder, readable by its owner only.
    func write(_ name: String, _ text: String) throws -> String {
        let path = folder.appendingPathComponent(name).path
        try #require(
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        return path
    }
}

/// One network namespace.
struct Machine {
    let namespace: String

    /// Runs a program inside; throws when it fails.
    @discardableResult
    func callAsFunction(_ arguments: String...) throws -> String {
        try Machine.checked(["ip", "netns", "exec", namespace] + arguments)
    }

    /// Runs a program inside and returns what came of it.
    func attempt(_ arguments: String...) throws -> Outcome {
        try Machine.outcome(["ip", "netns", "exec", namespace] + arguments)
    }

    /// Runs a program outside of every namespace.
    @discardableResult
    static func host(_ arguments: String...) throws -> String { try checked(arguments) }

    private static func checked(_ arguments: [String]) throws -> String {
        let outcome = try outcome(arguments)
        guard outcome.status == 0 else {
            throw LabError("\(arguments.joined(separator: " ")): status \(outcome.status): \(outcome.text)")
        }
        return outcome.text
    }

    static func outcome(_ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.runUnmasked()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }

    /// The routes of every table and the rules, as text.
    func routesAndRules() throws -> String {
        try [
            self("ip", "route", "show", "table", "all"), self("ip", "-6", "route", "show", "table", "all"),
            self("ip", "rule"), self("ip", "-6", "rule"),
        ].joined().split(separator: "\n").filter { !$0.contains("fe80::") && !$0.contains("ff00::/8") }
            .joined(separator: "\n")
    }

    /// Everything of the network that a tunnel could leave behind, as text that two moments are compared by.
    func networkState() throws -> String {
        let links = try self("ip", "-br", "link").split(separator: "\n").map { $0.split(separator: " ")[0] }
        let state = try [
            links.joined(separator: "\n"), self("ip", "-br", "address"), routesAndRules(), self("ss", "-Hunlp"),
            self("sysctl", "net.ipv4.conf.all.src_valid_mark"),
        ].joined(separator: "\n--\n")
        // The cable's own link-local addresses come and go as it settles.
        return state.split(separator: "\n").filter { !$0.contains("fe80::") && !$0.contains("ff00::/8") }
            .joined(separator: "\n")
    }
}

/// What a finished program left: its exit status and everything that it printed.
struct Outcome {
    let status: Int32
    let text: String
}

struct LabError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
