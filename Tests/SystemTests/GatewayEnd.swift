import Foundation
import Testing

/// A gateway at the left machine, kept by the verbs as an operator does it.
struct GatewayEnd {
    /// Its interface; all machines share a folder of control sockets, so no other has this name.
    let interface = uniqueInterface()

    let lab: Lab
    /// The state folder.
    let folder: String

    /// Makes the registry: 10.7.0.0/24 and fd07::/64, reached at 192.0.2.1:51820.
    init(_ lab: Lab, _ options: String...) throws {
        self.lab = lab
        folder = lab.folder.appendingPathComponent("state").path
        try run(
            ["init", "--listen-port", "51820", "--endpoint", "192.0.2.1:51820", "--pool", "10.7.0.0/24"]
                + ["--pool", "fd07::/64"] + options)
    }

    /// The variables that a process of the gateway needs.
    var environment: [String: String] { ["PROVIDERHOST_STATE_DIR": folder] }

    /// Starts it and waits until it is connected.
    func start(_ options: String..., verb: [String] = ["gateway", "run"]) throws -> Child {
        let child = try lab.start(
            on: lab.left, [Lab.providerhost] + verb + ["--interface", interface] + options,
            environment: environment)
        try child.waitFor("connected \(interface)")
        return child
    }

    /// Runs `providerhost gateway …` and requires that it succeeds.
    @discardableResult
    func callAsFunction(_ arguments: String...) throws -> String { try run(arguments) }

    /// Starts the tunnel of a peer at a machine, the right one else, with what the gateway exports and nothing else.
    func startClient(_ name: String, on machine: Machine? = nil, _ options: String...) throws -> Child {
        let exported = try self("export", name)
        try #require(!exported.contains("Address") && !exported.contains("10.7.0."))
        return try lab.startTunnel(on: machine ?? lab.right, exported, options: options)
    }

    /// Runs `providerhost gateway …` with arguments that were put together.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let outcome = try Machine.outcome(
            ["env", "PROVIDERHOST_STATE_DIR=\(folder)", Lab.providerhost, "gateway"] + arguments)
        try #require(outcome.status == 0, "gateway \(arguments.joined(separator: " ")): \(outcome.text)")
        return outcome.text
    }
}

extension Machine {
    /// The destinations of the routes into an interface, of every table.
    func routes(into interface: String = "phtun0") throws -> Set<String> {
        let lines = try [
            self("ip", "route", "show", "table", "all", "dev", interface),
            self("ip", "-6", "route", "show", "table", "all", "dev", interface),
        ].joined(separator: "\n").split(separator: "\n")
        return Set(lines.map { String($0.split(separator: " ")[0]) })
    }
}
