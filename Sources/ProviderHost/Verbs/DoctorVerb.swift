internal import Foundation
internal import HostRuntime

/// `doctor`: what keeps tunnels from working on this machine, and what to do about it.
enum DoctorVerb {
    static let command = Command(
        name: "doctor", summary: "Look for what keeps tunnels from working on this machine.", options: [.json],
        discussion: """
            Looks at the TUN device, capabilities, offloads, the manager and whether it serves this user, the store,
            DNS, the packet filter, the networks outside, rules and services of other programs, leftovers of killed
            tunnels, and the clock. Nothing is changed.

            Each finding has a severity (error, warning, note), its cause, and one command that helps. The exit status
            is 1 when one is an error. --json prints one object: `schema`, `findings`, and `checks` with what was seen.
            """
    ) { arguments, console in
        let diagnosis = Diagnosis(
            .observed(version: CommandLineTool.version, environment: ProcessInfo.processInfo.environment))
        if arguments.wantsJSON {
            console.print(json: Object(diagnosis))
        } else {
            for check in diagnosis.checks { show(check, console) }
        }
        return diagnosis.hasErrors ? .unknown : .success
    }

    /// Prints what was seen, or the findings with their commands.
    static func show(_ check: Check, _ console: Console) {
        if check.findings.isEmpty { console.print("ok \(check.topic): \(check.fact.printable)") }
        for finding in check.findings {
            console.print("\(finding.severity.rawValue) \(check.topic): \(finding.cause.printable)")
            console.print("  run: \(finding.command.printable)")
        }
    }

    /// The object of `--json`.
    struct Object: Encodable {
        struct Entry: Encodable {
            let severity: String
            let topic: String
            let cause: String
            let command: String
        }
        struct Seen: Encodable {
            let topic: String
            let fact: String
        }

        let schema: Int
        let findings: [Entry]
        let checks: [Seen]

        init(_ diagnosis: Diagnosis) {
            schema = Report.schema
            findings = diagnosis.checks.flatMap { check in
                check.findings.map {
                    Entry(severity: $0.severity.rawValue, topic: check.topic, cause: $0.cause, command: $0.command)
                }
            }
            checks = diagnosis.checks.map { Seen(topic: $0.topic, fact: $0.fact) }
        }
    }
}
