import Foundation
import ProviderKit
import Session
import Testing

@testable import HostRuntime

/// Processes as the manager makes them, and the small parts of the manager.
@Suite("Processes of the manager", .serialized, .timeLimit(.minutes(1)))
struct ManagerProcessTests {
    /// Runs a script in the place of a worker and returns what it wrote to its channel.
    private func run(_ script: String) throws -> (text: String, how: WorkerExit) {
        let path = NSTemporaryDirectory() + "phworker-\(UUID().uuidString)"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (near, far) = try ChannelSystem.socketPair()
        let process = try ChildProcess(worker: path, channel: far)
        far.close()
        let how = try waitForEnd(process)
        var text = ""
        while let part = try ChannelSystem.receive(near.number, capacity: 65_536), !part.bytes.isEmpty {
            text += String(decoding: part.bytes, as: UTF8.self)
        }
        return (text, how)
    }

    private func waitForEnd(_ process: ChildProcess) throws -> WorkerExit {
        #expect(try ChannelSystem.waitToRead(process.exitDescriptor, milliseconds: 10_000))
        return try #require(process.collect())
    }

    @Test("A worker has its arguments, its channel and nothing else of the manager's")
    func inheritance() async throws {
        try await onThread {
            StopSignals.block()
            let outcome = try run(
                """
                echo "$@" >&3
                grep -E '^Sig(Blk|Ign)' /proc/self/status >&3
                awk '{ print ($6 == $1) }' /proc/$$/stat >&3
                for descriptor in 0 1 2 3 4 5 6 7 8 9; do
                    [ -e /proc/$$/fd/$descriptor ] && echo "fd $descriptor" >&3
                done
                readlink /proc/$$/fd/0 >&3
                [ "$(readlink /proc/$$/fd/1)" = "$(readlink /proc/$$/fd/2)" ] && echo same >&3
                exit 7
                """)
            #expect(outcome.how == .exited(7))
            let lines = outcome.text.split(separator: "\n").map(String.init)
            #expect(lines.first == "worker --channel-fd 3")
            #expect(lines.contains("SigBlk:\t0000000000000000"))
            // SIGPIPE (bit 12) is not ignored.
            let ignored = try #require(lines.first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last)
            #expect(try #require(UInt64(ignored, radix: 16)) & (1 << 12) == 0)
            #expect(lines.contains("1"))
            #expect(lines.filter { $0.hasPrefix("fd ") } == ["fd 0", "fd 1", "fd 2", "fd 3"])
            #expect(lines.contains("/dev/null") && lines.contains("same"))
        }
    }

    @Test("An executable that is not there is an error with its name")
    func missing() throws {
        let (_, far) = try ChannelSystem.socketPair()
        let error = try #require(throws: SystemCallError.self) {
            try ChildProcess(worker: "/nonexistent/providerhost", channel: far)
        }
        #expect(error.errno == ENOENT && error.cause.contains("/nonexistent/providerhost"))
    }

    @Test("What a worker started ends with it")
    func group() async throws {
        try await onThread {
            let outcome = try run("sleep 1000 & echo $! >&3; exit 0")
            #expect(outcome.how == .exited(0))
            let child = try #require(Int32(outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)))
            var isGone = false
            for _ in 0..<2000 where !isGone {
                let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
                isGone = state?.contains(") Z ") ?? true
                usleep(5000)
            }
            #expect(isGone)
        }
    }

    @Test("A worker is killed with the thread that made it")
    func parentDeath() async throws {
        let (near, far) = try ChannelSystem.socketPair()
        let process = try await onThread { SendableBox(try ChildProcess(worker: "/bin/sleep", channel: far)) }
        far.close()
        // The worker held the only other end.
        let (ended, how) = try await onThread {
            (try ChannelSystem.waitToRead(near.number, milliseconds: 10_000), try self.waitForEnd(process.value))
        }
        #expect(ended)
        // sleep refuses the arguments of a worker when it comes to read them.
        #expect(how == .killed(signal: SIGKILL) || how == .exited(1))
    }

    @Test("A kill is told as its signal, and a second one is no error")
    func kill() async throws {
        try await onThread {
            let process = try ChildProcess(shell: "sleep 1000")
            #expect(process.collect() == nil)
            process.kill()
            #expect(try waitForEnd(process) == .killed(signal: SIGKILL))
            process.kill()
            #expect(process.collect() == .killed(signal: SIGKILL))
        }
    }

    @Test("The limiter lets so many lines through per second and counts the rest")
    func limiter() {
        var limiter = LogLimiter(limit: 2)
        let second: UInt64 = 1_000_000_000
        #expect((0..<5).map { limiter.admit(at: 5 * second + $0).isAdmitted } == [true, true, false, false, false])
        #expect(limiter.admit(at: 6 * second) == (true, 3))
        #expect(limiter.admit(at: 6 * second) == (true, 0))
        #expect(limiter.admit(at: 6 * second) == (false, 0))
        #expect(limiter.takeDropped() == 1)
        #expect(limiter.takeDropped() == 0)
    }

    @Test("Outcomes are nmcli's exit codes")
    func exitStatus() {
        #expect(SessionOutcome.allCases.map(\.exitStatus) == [0, 1, 3, 4, 5])
    }
}

/// Hands a value to another thread that is then its only user.
private struct SendableBox<Value>: @unchecked Sendable {
    // SAFETY: the thread that made the value has ended when the value is used.
    let value: Value
    init(_ value: Value) { self.value = value }
}
