import Control
import Foundation
import Testing

/// A manager of its own on the left machine of a lab: its store and its socket are in the lab's folder.
final class DaemonLab {
    let lab: Lab
    private(set) var daemon: Child

    /// Where the manager's store and sockets are.
    let environment: [String: String]

    /// Makes the machines and the manager, runs `body`, and removes everything whatever happened.
    ///
    /// - Parameters:
    ///   - prepare: Runs before the manager, and gives it more variables.
    ///   - body: The test.
    /// - Throws: What they throw, and what keeps the machines or the manager from starting.
    static func run(
        prepare: (Lab) throws -> [String: String] = { _ in [:] }, body: (DaemonLab) async throws -> Void
    ) async throws {
        let lab = try Lab.open()
        defer { lab.close() }
        try await body(try DaemonLab(lab, try prepare(lab)))
    }

    init(_ lab: Lab, _ more: [String: String]) throws {
        self.lab = lab
        environment = more.merging([
            "PROVIDERHOST_STATE_DIR": lab.folder.appendingPathComponent("state").path,
            "PROVIDERHOST_RUNTIME_DIR": lab.folder.appendingPathComponent("run").path,
        ]) { $1 }
        daemon = try Self.start(lab, environment)
    }

    private static func start(_ lab: Lab, _ environment: [String: String]) throws -> Child {
        let child = try lab.start(on: lab.left, [Lab.providerhost, "daemon"], environment: environment)
        try child.waitFor("The manager listens")
        return child
    }

    /// Starts another manager after the one before has ended.
    func restart() throws { daemon = try Self.start(lab, environment) }

    var socketPath: String { lab.folder.appendingPathComponent("run/manager").path }

    /// The way of an application to this manager; each one is a launch of the application.
    func client(_ application: String = "com.example.app") -> ManagerClient {
        ManagerClient(application: application, socketPath: socketPath)
    }

    /// Runs a verb against this manager.
    func tool(_ arguments: String..., input: String? = nil) throws -> Outcome {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        guard let input else { return try Machine.outcome(variables + [Lab.providerhost] + arguments) }
        let file = try lab.write("input-\(UUID().uuidString)", input)
        return try Machine.outcome(variables + [Lab.providerhost] + arguments + ["--file", file])
    }

    /// Runs a verb that must succeed.
    @discardableResult
    func checked(_ arguments: String..., input: String? = nil) throws -> String {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let outcome = try Machine.outcome(variables + [Lab.providerhost] + arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.text)")
        return outcome.text
    }

    /// Runs a verb with `--json` that must succeed, and gives its first object.
    func object(_ arguments: String...) throws -> [String: Any] {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let outcome = try Machine.outcome(variables + [Lab.providerhost] + arguments + ["--json"])
        try #require(outcome.status == 0, "\(arguments): \(outcome.text)")
        let line = try #require(outcome.text.split(separator: "\n").first { $0.hasPrefix("{") }, "\(outcome.text)")
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    /// Imports a profile that the loopback provider serves.
    func importLoopback(_ name: String, number: Int = 99, options: [String] = []) throws {
        let file = try lab.write(
            "\(name).json",
            #"{"IPv4Address":"10.\#(number).0.1","IPv6Address":"fd\#(number)::1"}"#)
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let outcome = try Machine.outcome(
            variables + [Lab.providerhost, "profile", "import", file, "--name", name, "--bundle-id"]
                + ["org.providerhost.loopback"] + options)
        try #require(outcome.status == 0, "\(outcome.text)")
    }
}
