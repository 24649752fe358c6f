import Foundation
import Testing

/// Varlink's own Python client, which Scripts/test.sh installs where it can.
private let python = [
    "PYTHONPATH=\(URL(fileURLWithPath: #filePath).deletingLastPathComponent().path)/../../.build/python", "python3",
]
private let hasVarlink =
    isRoot && (try? Machine.outcome(python + ["-c", "import varlink"]))?.status == 0

/// A client that knows nothing of us but the interface description that the manager gives.
@Suite("An outside Varlink client", .enabled(if: hasVarlink, "needs root, and the Python package varlink"))
struct VarlinkClientTests {
    private let script = """
        import sys, varlink
        client = varlink.Client(address="unix:" + sys.argv[1])
        print([interface for interface in client.get_interfaces()])
        calls = client.open("org.providerhost.manager")
        [configuration] = calls.List()["configurations"]
        print("name", configuration["localizedDescription"])
        changes = client.open("org.providerhost.manager").Watch(_more=True)
        print("first", [session["status"] for session in next(changes)["sessions"]])
        calls.Start(configuration["identifier"])
        for change in changes:
            for session in change["sessions"]:
                print("status", session["status"], flush=True)
                if session["status"] == "connected":
                    calls.Stop(configuration["identifier"])
                if session["status"] == "disconnected":
                    sys.exit(0)
        """

    @Test("lists, starts, watches and stops")
    func whole() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let outcome = try Machine.outcome(python + ["-c", script, host.socketPath])
            #expect(outcome.status == 0, "\(outcome.text)")
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.contains("name office") && lines.contains("first ['disconnected']"))
            let statuses = lines.filter { $0.hasPrefix("status ") }.map { $0.dropFirst(7) }
            #expect(statuses == ["connecting", "connected", "disconnecting", "disconnected"])
        }
    }
}
