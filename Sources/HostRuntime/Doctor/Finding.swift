/// One thing about the machine that keeps tunnels from working, or may.
public struct Finding: Sendable, Equatable {
    /// How bad it is.
    public enum Severity: String, Sendable, CaseIterable {
        /// Tunnels do not work, or not safely.
        case error
        /// Some tunnels do not work, or worse than they could.
        case warning
        /// Good to know.
        case note
    }

    public let severity: Severity
    /// What was found and what follows from it, in sentences.
    public let cause: String
    /// The one command that helps, or shows what to do.
    public let command: String

    init(_ severity: Severity, _ cause: String, run command: String) {
        self.severity = severity
        self.cause = cause
        self.command = command
    }
}

/// One part of the machine, looked at.
public struct Check: Sendable, Equatable {
    /// The part, in one word.
    public let topic: String
    /// What was seen, as a phrase.
    public let fact: String
    /// What is wrong with it.
    public let findings: [Finding]

    init(_ topic: String, _ fact: String, _ findings: [Finding] = []) {
        self.topic = topic
        self.fact = fact
        self.findings = findings
    }
}

/// What a look at the machine says about running tunnels on it.
public struct Diagnosis: Sendable, Equatable {
    /// Every part, in the order in which a start needs them.
    public let checks: [Check]

    /// Whether something keeps tunnels from working.
    public var hasErrors: Bool { checks.flatMap(\.findings).contains { $0.severity == .error } }

    /// Judges what was seen; nothing is looked at here.
    public init(_ machine: MachineSnapshot) {
        checks = [
            .device(machine), .capabilities(machine), .offloads(machine), .manager(machine), .store(machine),
            .resolver(machine), .filter(machine), .underlay(machine), .rules(machine), .services(machine),
            .leftovers(machine), .clock(machine),
        ]
    }
}
