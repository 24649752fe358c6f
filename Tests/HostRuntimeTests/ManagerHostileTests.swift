import Foundation
import ProviderKit
import Session
import Synchronization
import Testing

@testable import HostRuntime

/// Workers and readers that do harm: the manager goes on and can always be stopped.
@Suite("Manager against hostile workers", .serialized, .timeLimit(.minutes(2)))
struct ManagerHostileTests {
    @Test("Bytes that are no frame end the worker")
    func malformed() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            #expect(
                try ChannelSystem.send(
                    worker.channel.fileDescriptor, header: [UInt8](repeating: 7, count: 64), body: [], descriptors: []))
            try harness.waitForLine("for what it sent")
            let fresh = try harness.nextWorker()
            #expect(try fresh.next() == .start(options: nil))
            harness.host.stop(.userInitiated)
            #expect(try fresh.next() == .stop(.userInitiated))
            try fresh.channel.sendWaiting(.stopCompleted)
            #expect(try harness.end() == .stopped)
        }
    }

    @Test("A worker that closes its channel and lives on is killed")
    func closedChannel() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            worker.channel.close()
            try harness.system.events.wait { $0.contains("kill") }
            let fresh = try harness.nextWorker()
            #expect(try fresh.next() == .start(options: nil))
            #expect(try harness.stop(fresh) == .stopped)
        }
    }

    @Test("A worker that never reads is killed, and the manager never waits for it")
    func neverReads() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let began = Date.now
            for _ in 0..<3000 { harness.host.send([UInt8](repeating: 1, count: 4096), reply: nil) }
            try harness.waitForLine("does not read its messages")
            // The line is on its way before the process is killed.
            while worker.collect() == nil && Date.now.timeIntervalSince(began) < 8 {
                Thread.sleep(forTimeInterval: 0.01)
            }
            #expect(worker.collect() == .killed(signal: 9))
            harness.host.stop(.userInitiated)
            #expect(try harness.end() == .stopped)
            #expect(Date.now.timeIntervalSince(began) < 8)
        }
    }

    @Test("Messages out of turn change nothing")
    func outOfTurn() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            for message: WorkerMessage in [
                .ready, .failed(Messages.failure), .startCompleted(Messages.failure), .stopCompleted,
                .appMessageReply(id: 99, [1]), .sleepCompleted(id: 1), .reasserting(false),
            ] {
                try worker.channel.sendWaiting(message)
            }
            try worker.channel.sendWaiting(.log(.info, "all said"))
            try harness.waitForLine("all said")
            #expect(harness.statuses == [.connecting, .connected])
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test("A flood of log lines is cut to 200 per second and does not delay a stop")
    func logFlood() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let began = Date.now
            for number in 0..<50_000 { try worker.channel.sendWaiting(.log(.info, "line \(number)")) }
            #expect(try harness.stop(worker) == .stopped)
            let seconds = Date.now.timeIntervalSince(began)
            let lines = harness.reports.all.compactMap(\.line).count { $0.hasPrefix("line ") }
            #expect(lines <= 200 * (Int(seconds) + 2))
            let told = harness.reports.all.compactMap(\.line).filter { $0.contains("were dropped") }
                .compactMap { Int($0.prefix { $0.isNumber }) }
            #expect(lines + told.reduce(0, +) == 50_000)
        }
    }

    @Test("A reader of the reports that blocks does not hold the session up")
    func blockedReader() async throws {
        try await onThread {
            let gate = DispatchSemaphore(value: 0)
            let harness = try ManagerHarness(report: { _ in gate.wait() })
            let worker = try harness.nextWorker()
            #expect(try worker.next() == .start(options: nil))
            try worker.channel.sendWaiting(.startCompleted(nil))
            for number in 0..<5000 { try worker.channel.sendWaiting(.log(.info, "line \(number)")) }
            let began = Date.now
            #expect(try harness.stop(worker) == .stopped)
            #expect(Date.now.timeIntervalSince(began) < 5)
            for _ in 0..<10_000 { gate.signal() }
        }
    }

    @Test("A command of the configuration runs only where its user allowed it")
    func hooks() async throws {
        try await onThread {
            let strict = try ManagerHarness()
            let refused = try strict.connect()
            try refused.channel.sendWaiting(.runHook(id: 3, "true"))
            #expect(try refused.next() == .hookCompleted(id: 3, TunnelFailure(HookError(.notAllowed))))
            #expect(try strict.stop(refused) == .stopped)

            let harness = try ManagerHarness {
                $0.protocolConfiguration.providerConfiguration[TunnelProviderProtocol.allowHooksKey] = true
            }
            let worker = try harness.connect()
            try worker.channel.sendWaiting(.runHook(id: 4, "test \"$(ps -o stat= -p $$ | cut -c1)\" != Z"))
            #expect(try worker.next() == .hookCompleted(id: 4, nil))
            try worker.channel.sendWaiting(.runHook(id: 5, "exit 3"))
            guard case .hookCompleted(5, let failure?) = try worker.next() else { throw Unexpected("no failure") }
            #expect(failure.cause == "The command `exit 3` failed (exit status 3).")
            // A command that hangs keeps nobody from anything, and ends with its worker.
            let marker = NSTemporaryDirectory() + "phhook-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: marker) }
            try worker.channel.sendWaiting(.runHook(id: 6, "echo $$ > \(marker); sleep 1000"))
            var pid: Int32?
            for _ in 0..<2000 where pid == nil {
                pid = (try? String(contentsOfFile: marker, encoding: .utf8)).flatMap {
                    Int32($0.trimmingCharacters(in: .newlines))
                }
                usleep(5000)
            }
            let shell = try #require(pid)
            #expect(try harness.stop(worker) == .stopped)
            var isGone = false
            for _ in 0..<2000 where !isGone {
                isGone = kill(-shell, 0) != 0
                usleep(5000)
            }
            #expect(isGone)
        }
    }
}
