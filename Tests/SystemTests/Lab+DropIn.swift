import Foundation
import Testing

/// A program that makes WireGuard interfaces for `wg`, by one argument: ours or Debian's.
enum DropIn: String, CaseIterable, CustomTestStringConvertible {
    case ours
    case wireguardGo = "wireguard-go"

    var testDescription: String { rawValue }

    var command: [String] {
        switch self {
        case .ours: [Lab.providerhost, "wireguard", "-f"]
        case .wireguardGo: ["wireguard-go", "-f"]
        }
    }
}

/// A name that no other test has: control sockets lie in one folder, whatever the namespace.
func uniqueInterface() -> String { "wg\(UInt32.random(in: 0...99_999_999))" }

func controlSocket(of interface: String) -> String { "/var/run/wireguard/\(interface).sock" }

extension Lab {
    /// Makes an interface whose sockets belong to `machine`, and waits until `wg` reaches it.
    func make(_ program: DropIn, _ interface: String, on machine: Machine) throws -> Child {
        let child = try start(
            on: machine, program.command + [interface],
            environment: ["WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD": "1"])
        try eventually(seconds: 15, "\(program.rawValue) \(interface)") {
            try machine.attempt("wg", "show", interface).status == 0
        }
        return child
    }

    /// A file with a key, as `wg set` takes one.
    func keyFile(_ key: String) throws -> String { try write("\(UUID().uuidString).key", key + "\n") }

    /// Makes the link to the program that stands for the verb, and returns the search path that finds it.
    func pathWithLink() throws -> String {
        let link = folder.appendingPathComponent("wireguard-providerhost")
        if !FileManager.default.fileExists(atPath: link.path) {
            try FileManager.default.createSymbolicLink(
                at: link, withDestinationURL: URL(fileURLWithPath: Lab.providerhost))
        }
        return folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin")
    }
}

extension Machine {
    /// Runs one line of bash inside; throws when it fails.
    @discardableResult
    func shell(_ line: String) throws -> String { try self("bash", "-c", line) }

    /// Pings once and requires the answer within a second, as WireGuard's own scripts do.
    func pingOnce(_ address: String) throws {
        let outcome = try attempt("ping", "-c", "1", "-W", "1", address)
        try #require(outcome.status == 0, "one ping to \(address) within a second: \(outcome.text)")
    }

    /// The processes that serve an interface in the background.
    static func servers(of interface: String) throws -> [pid_t] {
        let outcome = try outcome(["pgrep", "-f", "--", "--foreground \(interface)$"])
        return outcome.text.split(separator: "\n").compactMap { pid_t($0) }
    }
}
