import Control
import ProviderKit
import SystemStore
import Testing

@testable import HostRuntime

/// One thing that is wrong with a machine, and the one finding that tells of it.
struct Ailment: Sendable, CustomTestStringConvertible {
    let topic: String
    let severity: Finding.Severity
    /// A part of the cause.
    let cause: String
    /// A part of the command.
    let command: String
    let change: @Sendable (inout MachineSnapshot) -> Void

    init(
        _ topic: String, _ severity: Finding.Severity, _ cause: String, run command: String,
        _ change: @escaping @Sendable (inout MachineSnapshot) -> Void
    ) {
        self.topic = topic
        self.severity = severity
        self.cause = cause
        self.command = command
        self.change = change
    }

    var testDescription: String { "\(severity) \(topic): \(cause)" }
}

@Suite("Doctor")
struct DiagnosisTests {
    @Test("Nothing is found on a healthy machine")
    func healthy() throws {
        let diagnosis = Diagnosis(try .healthy())
        #expect(diagnosis.checks.flatMap(\.findings) == [] && !diagnosis.hasErrors)
        #expect(Set(diagnosis.checks.map(\.topic)).count == diagnosis.checks.count)
        #expect(diagnosis.checks.allSatisfy { !$0.fact.isEmpty })
    }

    @Test("Each ailment has its one finding, with the command that helps", arguments: Ailment.all)
    func finding(_ ailment: Ailment) throws {
        var machine = try MachineSnapshot.healthy()
        ailment.change(&machine)
        let diagnosis = Diagnosis(machine)
        let sick = diagnosis.checks.filter { !$0.findings.isEmpty }
        let check = try #require(sick.first)
        let finding = try #require(check.findings.first)
        #expect(sick.count == 1 && check.findings.count == 1, "\(sick)")
        #expect(check.topic == ailment.topic && finding.severity == ailment.severity, "\(check)")
        #expect(finding.cause.contains(ailment.cause), "\(finding.cause)")
        #expect(finding.command.contains(ailment.command) && !finding.command.contains("\n"), "\(finding.command)")
        #expect(diagnosis.hasErrors == (ailment.severity == .error))
    }

    @Test("What is another's own affair is no finding", arguments: Ailment.none.indices)
    func nothing(_ index: Int) throws {
        var machine = try MachineSnapshot.healthy()
        Ailment.none[index](&machine)
        #expect(Diagnosis(machine).checks.flatMap(\.findings) == [])
    }

    @Test("Without the capability and without a manager nothing works", arguments: [0, 1000] as [UInt32])
    func powerless(user: UInt32) throws {
        var machine = try MachineSnapshot.healthy()
        machine.user = user
        machine.mayAdministerNetwork = false
        machine.device = .refused(errno: 1)
        machine.filter = .refused(cause: "nft may not.")
        machine.leftovers = .success(LeftoverSweep(rehearsed: [], failures: ["nft may not."]))
        machine.fail(.noManager)
        let errors = Diagnosis(machine).checks.flatMap(\.findings).filter { $0.severity != .note }
        #expect(errors.count == 1 && errors[0].severity == .error, "\(errors)")
        #expect(errors[0].command == (user == 0 ? Self.container : "sudo providerhost doctor"))
    }

    private static let container = "docker run --device /dev/net/tun --cap-add NET_ADMIN IMAGE"

    @Test("A kernel that cannot be asked is told once")
    func unreadable() throws {
        var machine = try MachineSnapshot.healthy()
        let failure = TunnelFailure(errorDomain: "d", errorCode: 1, cause: "No netlink.", remedy: "")
        machine.network = .failure(failure)
        machine.leftovers = .failure(failure)
        let findings = Diagnosis(machine).checks.flatMap(\.findings)
        #expect(findings.count == 1 && findings[0].severity == .error && findings[0].cause.contains("No netlink."))
    }

    @Test("A file says whether a service leaves tunnels alone")
    func configurations() {
        let texts: [(NetworkService, String, Bool)] = [
            (.networkManager, "[keyfile]\nunmanaged-devices+=interface-name:phtun*\n", true),
            (.networkManager, "[keyfile]\n#unmanaged-devices=interface-name:phtun*\n", false),
            (.networkManager, "[keyfile]\nunmanaged-devices=interface-name:veth*\n", false),
            (.networkd, "[Network]\nManageForeignRoutes = no\n", true),
            (.networkd, "[Network]\nManageForeignRoutes=yes\n", false),
            (.networkd, "ManageForeignRoutes", false),
            (.firewalld, "<zone>\n  <interface name=\"phtun0\"/>\n</zone>", true),
            (.firewalld, "<zone>\n  <interface name=\"eth0\"/>\n</zone>", false),
            (.firewalld, "", false),
        ]
        for (service, text, isSparing) in texts { #expect(service.isSparing(text) == isSparing, "\(service): \(text)") }
    }
}
