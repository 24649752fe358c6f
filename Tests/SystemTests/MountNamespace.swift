import Foundation

/// A mount namespace of a test's own: what is mounted in it is seen by nobody else, so that an unmount is one.
///
/// A program that makes a namespace elsewhere would take a copy of our mount with it, and keep the file system alive.
struct MountNamespace {
    private let holder: Child

    /// Makes the namespace; it lives until ``end()``.
    init(log: String) throws {
        holder = try Child(
            ["unshare", "-m", "--propagation", "private", "sleep", "3600"], environment: [:],
            log: URL(fileURLWithPath: log))
        let ours = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/mnt")
        let path = "/proc/\(holder.pid)/ns/mnt"
        try eventually("a mount namespace") {
            try FileManager.default.destinationOfSymbolicLink(atPath: path) != ours
        }
    }

    /// What runs a program inside.
    var prefix: [String] { ["nsenter", "-t", "\(holder.pid)", "-m"] }

    /// Runs a program inside; throws when it fails.
    func callAsFunction(_ arguments: String...) throws {
        let outcome = try Machine.outcome(prefix + arguments)
        guard outcome.status == 0 else { throw LabError("\(arguments.joined(separator: " ")): \(outcome.text)") }
    }

    /// Ends the namespace and everything that is mounted in it.
    func end() { holder.end() }
}
