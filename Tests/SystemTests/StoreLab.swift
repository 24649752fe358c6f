import Foundation
import Testing

/// A folder for a store and the process that exercises it; gone after the test.
final class StoreLab {
    let folder: URL
    private static let exercise = Lab.buildFolder.appendingPathComponent("StoreExercise").path

    /// Whether a file system in a file can be mounted here.
    static let canMountLoop: Bool = {
        guard isRoot, let lab = try? StoreLab() else { return false }
        let script = "truncate -s 4M \"$0\" && mkfs.ext4 -q \"$0\" && mkdir \"$0.d\" && mount -o loop \"$0\" \"$0.d\""
        return (try? Machine.outcome(["unshare", "-m", "sh", "-c", script, lab.path("probe")]))?.status == 0
    }()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs the exercise to its end.
    func run(_ arguments: String..., prefix: [String] = []) throws -> Outcome {
        try Machine.outcome(prefix + ["timeout", "60", Self.exercise] + arguments)
    }

    /// Starts the exercise with its output in `log`.
    func start(_ arguments: String..., prefix: [String] = [], log: String) throws -> Child {
        try Child(prefix + [Self.exercise] + arguments, environment: [:], log: URL(fileURLWithPath: log))
    }

    /// The number that is stored; throws for a store that is torn, damaged or refused.
    func stored(in name: String) throws -> Int { try Self.stored(run("check", path(name))) }

    /// The number that a check has found.
    static func stored(_ outcome: Outcome) throws -> Int {
        let number = outcome.text.hasPrefix("stored ") ? outcome.text.dropFirst(7) : ""
        guard outcome.status == 0, let stored = Int(number.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw LabError("the store is not sound: \(outcome.text)")
        }
        return stored
    }

    /// The last number that a process said was saved, 0 for none.
    static func acknowledged(_ text: String) -> Int {
        text.split(separator: "\n").compactMap { $0.hasPrefix("saved ") ? Int($0.dropFirst(6)) : nil }.last ?? 0
    }
}
