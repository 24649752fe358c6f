import Foundation
import Glibc

/// A program that was started, its output in files of the run's folder.
final class Child {
    let arguments: [String]
    let pid: pid_t
    private let output: URL
    private let errors: URL
    private var ending: Spawn.Ending?

    init(_ arguments: [String], in folder: URL) throws {
        let tag = UUID().uuidString
        self.arguments = arguments
        output = folder.appendingPathComponent("\(tag).out")
        errors = folder.appendingPathComponent("\(tag).err")
        switch Spawn.start(arguments, output: output.path, errors: errors.path) {
        case .success(let process): pid = process
        case .failure(let error):
            throw BenchmarkError("cannot start \(arguments[0]): \(error.text)", advice: "Is it installed and in PATH?")
        }
    }

    /// What it printed until now.
    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var errorText: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// How it ended, or nil while it runs.
    func pollEnding() -> Spawn.Ending? {
        if ending == nil { ending = Spawn.ending(of: pid) }
        return ending
    }

    /// Waits for its end; `whileRunning` is called about every 50 ms.
    func wait(seconds: Double, heedingSignals: Bool = true, whileRunning: () throws -> Void = {}) throws -> Spawn.Ending
    {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var pause: UInt32 = 1_000
        while true {
            if let ending = pollEnding() { return ending }
            if heedingSignals { try Interruption.check() }
            try whileRunning()
            guard clock.now < deadline else {
                end()
                throw BenchmarkError(
                    "'\(arguments.joined(separator: " "))' did not end within \(Int(seconds)) s",
                    advice: "Its output: \(tail)")
            }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }

    /// Ends it, gently first, and takes its status.
    func end() {
        for (signal, attempts) in [(SIGTERM, 150), (SIGKILL, 50)] {
            guard pollEnding() == nil else { return }
            kill(pid, signal)
            for _ in 0..<attempts where pollEnding() == nil { usleep(20_000) }
        }
    }

    /// Removes the output's files, when the folder is not the run's own.
    func removeFiles() {
        for file in [output, errors] { try? FileManager.default.removeItem(at: file) }
    }

    /// The last lines of everything that it printed, for error messages.
    var tail: String {
        let lines = (text + errorText).split(separator: "\n").suffix(5)
        return lines.isEmpty ? "(nothing)" : lines.joined(separator: " | ")
    }

    /// Runs a program to its end and returns its output; throws unless the status is 0.
    @discardableResult
    static func run(
        _ arguments: [String], in folder: URL, seconds: Double = 10, heedingSignals: Bool = true
    ) throws -> String {
        let child = try Child(arguments, in: folder)
        let ending: Spawn.Ending
        do {
            ending = try child.wait(seconds: seconds, heedingSignals: heedingSignals)
        } catch {
            child.end()
            throw error
        }
        guard ending == .status(0) else {
            throw BenchmarkError(
                "'\(arguments.joined(separator: " "))' failed (\(ending))", advice: "Its output: \(child.tail)")
        }
        return child.text
    }
}

/// Waits until `condition` holds; throws what `failure` says when it does not within `seconds`.
func wait(seconds: Double, until condition: () throws -> Bool, failure: () -> BenchmarkError) throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(seconds)
    while try !condition() {
        try Interruption.check()
        guard clock.now < deadline else { throw failure() }
        usleep(10_000)
    }
}
