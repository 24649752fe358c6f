import Foundation
import Testing

/// On-demand rules of the profiles of a manager.
extension DaemonLab {
    /// Rules in JSON, as files of rules have them.
    enum RuleText {
        static let connect = #"{"action":1,"interfaceTypeMatch":0}"#
        static let disconnect = #"{"action":2,"interfaceTypeMatch":0}"#

        /// A rule with one more condition, as JSON after its name.
        static func disconnectIf(_ condition: String) -> String {
            #"{"action":2,"interfaceTypeMatch":0,\#(condition)}"#
        }
    }

    /// Runs `body` with a manager whose machine has a resolv.conf of its own.
    static func run(resolver: String, body: (DaemonLab, ResolverText) async throws -> Void) async throws {
        let lab = try Lab.open()
        defer { lab.close() }
        let text = try ResolverText(lab.left)
        defer { text.remove() }
        try text.write(resolver)
        try await body(try DaemonLab(lab, [:]), text)
    }

    /// The resolv.conf of one machine, which `ip netns exec` puts over the host's.
    struct ResolverText {
        private let folder: URL

        init(_ machine: Machine) throws {
            folder = URL(fileURLWithPath: "/etc/netns").appendingPathComponent(machine.namespace)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        /// Writes the file in place: what is mounted is the file, not its name.
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent("resolv.conf"))
        }

        func remove() {
            try? FileManager.default.removeItem(at: folder)
            // Gone only when it is empty: other tests may have theirs in it.
            _ = try? Machine.host(
                "rmdir", "--ignore-fail-on-non-empty", folder.deletingLastPathComponent().path)
        }
    }

    /// Puts rules of a profile in force.
    ///
    /// - Returns: What the verb printed.
    @discardableResult
    func setRules(_ name: String, _ rules: String...) throws -> String {
        let file = try lab.write("rules-\(UUID().uuidString).json", "[" + rules.joined(separator: ",") + "]")
        return try checked("profile", "edit", name, "--rules", file, "--on-demand", "yes")
    }

    /// What the rules of a profile came to.
    func why(_ name: String) throws -> [String: Any] {
        try #require(try object("status", name, "--why")["onDemand"] as? [String: Any])
    }

    /// Waits until a profile has a status.
    func wait(for status: String, _ name: String = "office", seconds: Double = 10) throws {
        try eventually(seconds: seconds, "\(name) \(status)") {
            try object("status", name)["status"] as? String == status
        }
    }

    /// How often rules have started or stopped the tunnel of a profile.
    func deeds(_ name: String = "office") throws -> Int {
        try checked("log", name).components(separatedBy: "on demand: ").count - 1
    }
}
