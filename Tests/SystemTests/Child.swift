import Foundation
import Testing

extension Process {
    /// Runs the program with every signal let through, so that what it waits for, and what ends it, arrives.
    ///
    /// A program inherits the signal mask of the thread that starts it, and the threads of tasks block most signals.
    func runUnmasked() throws {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}

/// A program that runs beside the test, its output in a file.
final class Child {
    private let process = Process()
    private let log: URL

    init(_ arguments: [String], environment: [String: String], log: URL) throws {
        self.log = log
        try #require(FileManager.default.createFile(atPath: log.path, contents: nil))
        let output = try FileHandle(forWritingTo: log)
        defer { try? output.close() }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Tests that run under nohup ignore SIGHUP, and what they start would inherit that.
        process.arguments = ["--default-signal=HUP"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.runUnmasked()
    }

    /// The process; `ip netns exec` and `env` replace themselves, so it is the program's own.
    var pid: pid_t { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    /// Everything that it printed until now.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// Waits until the output contains `text`.
    func waitFor(_ text: String, seconds: Double = 10) throws {
        try poll(seconds, "output with '\(text)'") { output.contains(text) }
    }

    /// Waits until the output contains `text` more than `count` times.
    func waitFor(_ text: String, moreThan count: Int, seconds: Double = 10) throws {
        try poll(seconds, "more than \(count) of '\(text)'") { output.components(separatedBy: text).count - 1 > count }
    }

    /// Waits for the end and returns the exit status.
    func waitForExit(seconds: Double = 10) throws -> Int32 {
        try poll(seconds, "the end of the process") { !process.isRunning }
        return process.terminationStatus
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// The threads that the process has now.
    var threads: [pid_t] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []).compactMap { pid_t($0) }
    }

    /// The processes that any thread of this one started.
    func childProcesses() -> [pid_t] {
        threads.flatMap { thread -> [pid_t] in
            let path = "/proc/\(pid)/task/\(thread)/children"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
    }

    /// Ends the process, gently first.
    func end() {
        guard process.isRunning else { return }
        signal(SIGTERM)
        let deadline = Date.now.addingTimeInterval(3)
        while process.isRunning && Date.now < deadline { usleep(20_000) }
        if process.isRunning { signal(SIGKILL) }
    }

    private func poll(_ seconds: Double, _ what: String, until condition: () -> Bool) throws {
        let deadline = Date.now.addingTimeInterval(seconds)
        while !condition() {
            guard Date.now < deadline else {
                throw LabError("waited \(seconds) s in vain for \(what); the output is:\n\(output)")
            }
            usleep(10_000)
        }
    }
}

/// Waits until `condition` holds.
func eventually(seconds: Double = 5, _ what: String, _ condition: () throws -> Bool) throws {
    let deadline = Date.now.addingTimeInterval(seconds)
    while try !condition() {
        guard Date.now < deadline else { throw LabError("waited \(seconds) s in vain for \(what)") }
        usleep(20_000)
    }
}
