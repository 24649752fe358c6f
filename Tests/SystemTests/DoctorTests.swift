import Foundation
import Testing

/// `providerhost doctor` on machines where something is wrong in fact.
@Suite("Doctor on a machine", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DoctorTests {
    /// One finding of `doctor --json`.
    private struct Finding: Decodable {
        let severity: String
        let topic: String
        let cause: String
        let command: String
    }

    private struct Report: Decodable {
        let schema: Int
        let findings: [Finding]
    }

    /// Runs doctor on the left machine behind `prefix`, and gives its findings about `topic`.
    private func findings(
        _ topic: String, in lab: Lab, behind prefix: [String] = [], environment: [String: String] = [:]
    ) throws -> [Finding] {
        let variables = [
            "PROVIDERHOST_STATE_DIR": lab.folder.appendingPathComponent("state").path,
            "PROVIDERHOST_RUNTIME_DIR": lab.folder.appendingPathComponent("run").path,
        ].merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        let outcome = try Machine.outcome(
            ["ip", "netns", "exec", lab.left.namespace, "env"] + variables + prefix
                + [Lab.providerhost, "doctor", "--json"])
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.text.utf8))
        #expect(report.schema == 1)
        #expect(report.findings.allSatisfy { !$0.cause.isEmpty && !$0.command.isEmpty })
        #expect((outcome.status == 1) == report.findings.contains { $0.severity == "error" }, "\(outcome.text)")
        return report.findings.filter { $0.topic == topic }
    }

    @Test("A machine without a fault has none in what tunnels need")
    func sound() throws {
        try Lab.run { lab in
            for topic in ["tun", "capabilities", "store", "filter", "rules", "services", "leftovers", "clock"] {
                #expect(try findings(topic, in: lab).isEmpty)
            }
            #expect(try findings("manager", in: lab).map(\.severity) == ["note"])
            #expect(try !lab.left("ip", "-br", "link").contains("phdoctor"))
            let text = try lab.left.attempt(Lab.providerhost, "doctor").text
            #expect(text.contains("ok tun: interfaces can be made\n"), "\(text)")
        }
    }

    @Test("No /dev/net/tun, no capability")
    func powers() throws {
        try Lab.run { lab in
            // `ip netns exec` gives the program mounts of its own.
            let hidden = ["sh", "-c", "mount -t tmpfs none /dev/net && exec \"$@\"", "sh"]
            let device = try findings("tun", in: lab, behind: hidden)
            #expect(device.map(\.severity) == ["error"] && device[0].command == "modprobe tun", "\(device)")
            let powerless = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
            let capability = try findings("capabilities", in: lab, behind: powerless)
            #expect(capability.map(\.severity) == ["error"], "\(capability)")
            #expect(capability.first?.cause.contains("CAP_NET_ADMIN") == true)
            let offloads = try findings("offloads", in: lab, environment: ["PROVIDERHOST_NO_UDP_GRO": "1"])
            #expect(offloads.contains { $0.command == "unset PROVIDERHOST_NO_UDP_GRO" }, "\(offloads)")
        }
    }

    @Test("Rules and services of others, and a default route into their tunnel")
    func others() throws {
        try Lab.run { lab in
            try lab.left("ip", "rule", "add", "pref", "5270", "lookup", "52")
            let rules = try findings("rules", in: lab)
            #expect(rules.map(\.severity) == ["warning"] && rules[0].command == "tailscale down", "\(rules)")
            try lab.left("ip", "tuntap", "add", "dev", "tun7", "mode", "tun")
            try lab.left("ip", "link", "set", "tun7", "up")
            try lab.left("ip", "route", "add", "0.0.0.0/1", "dev", "tun7")
            let underlay = try findings("underlay", in: lab)
            #expect(underlay.contains { $0.severity == "warning" && $0.command.contains("tun7") }, "\(underlay)")
            let program = lab.folder.appendingPathComponent("firewalld").path
            try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: program)
            _ = try lab.start(on: lab.left, [program, "60"])
            try eventually("the service") { try !findings("services", in: lab).isEmpty }
            // One of another network namespace is nobody's business here.
            let elsewhere = try lab.right.attempt(Lab.providerhost, "doctor", "--json").text
            #expect(!elsewhere.contains("firewalld runs"), "\(elsewhere)")
        }
    }

    @Test("Leftovers are told, and gone after the command that is named")
    func leftovers() throws {
        try Lab.run { lab in
            try lab.left("ip", "rule", "add", "pref", "5406", "lookup", "54000", "protocol", "kernel")
            try lab.left("ip", "route", "add", "unreachable", "default", "table", "54000", "protocol", "kernel")
            try lab.left("nft", "add", "table", "inet", "providerhost_guard_phtun9")
            let found = try findings("leftovers", in: lab)
            #expect(Set(found.map(\.severity)) == ["warning", "error"] && found.count == 3, "\(found)")
            #expect(found.allSatisfy { $0.command == "providerhost sweep" })
            #expect(try lab.left("nft", "list", "tables").contains("providerhost_guard_phtun9"))
            #expect(try lab.left.attempt(Lab.providerhost, "sweep").status == 0)
            #expect(try findings("leftovers", in: lab).isEmpty)
        }
    }

    @Test("A damaged store, and a clock that was never set")
    func storeAndClock() throws {
        try Lab.run { lab in
            let state = lab.folder.appendingPathComponent("state")
            try FileManager.default.createDirectory(
                at: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let damage = Data(repeating: 0xa5, count: 8192)
            try damage.write(to: state.appendingPathComponent("store.sqlite"))
            let store = try findings("store", in: lab)
            #expect(store.map(\.severity) == ["error"] && store[0].cause.contains("damaged"), "\(store)")
            #expect(
                try Data(contentsOf: state.appendingPathComponent("store.sqlite")) == damage, "doctor changes nothing")
            let offset = try lab.write("time", "-\(40 * 31_556_952)")
            let library = Lab.buildFolder.appendingPathComponent("libFakeClock.so").path
            let clock = try findings(
                "clock", in: lab, environment: ["LD_PRELOAD": library, "FAKE_CLOCK_FILE": offset])
            #expect(clock.map(\.severity) == ["error"] && clock[0].command.hasPrefix("timedatectl"), "\(clock)")
        }
    }
}
