import Foundation
import ProviderKit
import Synchronization
import Testing

@testable import HostRuntime

@Suite("Worker", .timeLimit(.minutes(1))) struct WorkerTests {
    @Test("Start, app message, sleep, wake and stop reach the provider, and its answers the manager")
    func lifeCycle() async throws {
        let harness = try WorkerHarness { ScriptedProvider($0) }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: ["k": 1]))
        #expect(try await harness.next() == .startCompleted(nil))
        try harness.manager.send(.appMessage(id: 7, [1, 2, 3], wantsReply: true))
        #expect(try await harness.next() == .appMessageReply(id: 7, [3, 2, 1]))
        try harness.manager.send(.appMessage(id: 8, [1], wantsReply: false))
        try harness.manager.send(.sleep(id: 9))
        #expect(try await harness.next() == .sleepCompleted(id: 9))
        try harness.manager.send(.wake)
        try harness.manager.send(.stop(.userInitiated))
        #expect(try await harness.next() == .stopCompleted)
        #expect(await harness.status() == 0)
        await #expect(throws: ChannelError.closed) { try await harness.next() }
    }

    @Test("A stop before any start ends the worker without asking the provider")
    func stopBeforeStart() async throws {
        let harness = try WorkerHarness { context in
            ScriptedProvider(context, onStop: { _, _ in Issue.record("the provider was never started") })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.stop(.userInitiated))
        #expect(try await harness.next() == .stopCompleted)
        #expect(await harness.status() == 0)
    }

    @Test("The error of a failed start keeps domain, code and text")
    func failedStart() async throws {
        let error = VPNConnectionError(.authenticationFailed, cause: "No.", remedy: "Ask.")
        let harness = try WorkerHarness { ScriptedProvider($0, onStart: { $1(error) }) }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(
            try await harness.next()
                == .startCompleted(
                    TunnelFailure(
                        errorDomain: "NEVPNConnectionErrorDomain", errorCode: 8, cause: "No.", remedy: "Ask.")))
    }

    @Test("A completion counts once: the second is a warning")
    func secondCompletion() async throws {
        let harness = try WorkerHarness { context in
            ScriptedProvider(
                context,
                onStart: { _, completed in
                    completed(nil)
                    completed(VPNConnectionError(.serverDead))
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .startCompleted(nil))
        #expect(try await harness.nextLog() == "the provider completed startTunnel a second time; ignored")
        try harness.manager.send(.stop(.none))
        #expect(try await harness.next() == .stopCompleted)
    }

    @Test("A start that blocks its thread for the settings gets them, also two deep")
    func blockingStart() async throws {
        let harness = try WorkerHarness { context in
            ScriptedProvider(
                context,
                onStart: { context, completed in
                    let done = DispatchSemaphore(value: 0)
                    context.setTunnelNetworkSettings(Messages.settings) { _ in
                        let inner = DispatchSemaphore(value: 0)
                        context.setTunnelNetworkSettings(nil) { _ in inner.signal() }
                        inner.wait()
                        done.signal()
                    }
                    done.wait()
                    completed(nil)
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .setSettings(id: 1, Messages.settings))
        try harness.manager.send(.settingsCompleted(id: 1, nil))
        #expect(try await harness.next() == .setSettings(id: 2, nil))
        try harness.manager.send(.settingsCompleted(id: 2, nil))
        #expect(try await harness.next() == .startCompleted(nil))
    }

    @Test("A settings error comes back with its type; an answer that nobody waits for is ignored")
    func settingsError() async throws {
        let harness = try WorkerHarness { context in
            ScriptedProvider(
                context,
                onStart: { context, completed in
                    context.setTunnelNetworkSettings(nil) { completed($0 as? TunnelProviderError) }
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .setSettings(id: 1, nil))
        let failure = TunnelFailure(TunnelProviderError(.networkSettingsFailed, cause: "No table.", remedy: "Make it."))
        try harness.manager.send(.settingsCompleted(id: 99, nil))
        try harness.manager.send(.hookCompleted(id: 1, nil))
        #expect(throws: Never.self) { try harness.manager.send(.settingsCompleted(id: 1, failure)) }
        // The wrong kind of answer has used up request 1; the provider is told when the channel ends, not before.
        try harness.manager.send(.sleep(id: 3))
        #expect(try await harness.next() == .sleepCompleted(id: 3))
    }

    @Test("UDP sockets arrive as the provider's own, and hooks are answered")
    func socketsAndHooks() async throws {
        let request = UDPSocketRequest(port: 51820, mark: 7)
        let harness = try WorkerHarness { context in
            ScriptedProvider(
                context,
                onStart: { context, completed in
                    context.openUDPSockets(request) { result in
                        guard case .success(let sockets) = result, sockets.ipv4 == nil, let ipv6 = sockets.ipv6,
                            sockets.port == 51820, Descriptors.isCloseOnExec(ipv6)
                        else { return completed(VPNConnectionError(.pluginFailed)) }
                        close(ipv6)
                        context.runHook("true") { completed($0) }
                    }
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .openUDPSockets(id: 1, request))
        let (near, far) = try ChannelSystem.socketPair()
        try harness.manager.send(
            .udpSockets(id: 1, .opened(port: 51820, hasIPv4: false, hasIPv6: true)), descriptors: [far])
        #expect(try await harness.next() == .runHook(id: 2, "true"))
        try harness.manager.send(.hookCompleted(id: 2, Messages.failure))
        #expect(try await harness.next() == .startCompleted(Messages.failure))
        // Nobody waits for this one: the descriptor must not stay open in the worker.
        try harness.manager.send(
            .udpSockets(id: 50, .opened(port: 1, hasIPv4: true, hasIPv6: false)), descriptors: [far])
        try harness.manager.send(.sleep(id: 3))
        #expect(try await harness.next() == .sleepCompleted(id: 3))
        far.close()
        #expect(try ChannelSystem.receive(near.number, capacity: 1)?.bytes == [])
    }

    @Test("Cancel and reasserting are told once per change")
    func cancelAndReasserting() async throws {
        let harness = try WorkerHarness(logLevel: .error) { context in
            ScriptedProvider(
                context,
                onStart: { context, completed in
                    context.reasserting = true
                    context.reasserting = true
                    context.reasserting = false
                    context.cancelTunnelWithError(Messages.failure)
                    context.cancelTunnelWithError(nil)
                    completed(nil)
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        let expected: [WorkerMessage] = [
            .reasserting(true), .reasserting(false), .cancelled(Messages.failure), .startCompleted(nil),
        ]
        for message in expected { #expect(try await harness.next() == message) }
    }

    @Test("When the manager dies, the provider is stopped once, waiting requests fail, and the worker ends")
    func orphan() async throws {
        let (stopped, continuation) = AsyncStream.makeStream(of: String.self)
        let harness = try WorkerHarness { context in
            ScriptedProvider(
                context,
                onStart: { context, completed in
                    completed(nil)
                    context.setTunnelNetworkSettings(nil) { error in
                        if error as? TunnelProviderError == TunnelProviderError(.networkSettingsCanceled) {
                            continuation.yield("settings")
                        }
                    }
                },
                onStop: { reason, completed in
                    if reason == .internalError { continuation.yield("stop") }
                    completed()
                })
        }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .startCompleted(nil))
        #expect(try await harness.next() == .setSettings(id: 1, nil))
        harness.manager.close()
        #expect(await harness.status() == 1)
        var seen: Set<String> = []
        for await event in stopped {
            seen.insert(event)
            if seen.count == 2 { break }
        }
        #expect(seen == ["settings", "stop"])
    }

    @Test("A provider that hangs does not keep an orphan alive")
    func hangingOrphan() async throws {
        let harness = try WorkerHarness { ScriptedProvider($0, onStop: { _, _ in }) }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: nil))
        #expect(try await harness.next() == .startCompleted(nil))
        let clock = ContinuousClock()
        let start = clock.now
        harness.manager.close()
        #expect(await harness.status() == 1)
        #expect(clock.now - start < .seconds(5))
    }

    @Test(
        "Log lines are one line of bounded length",
        arguments: [
            ("plain", "plain"), ("a\nb\u{1b}[31m\u{2028}c", "a b [31m c"), ("", ""),
        ])
    func logLine(text: String, expected: String) {
        #expect(WorkerLog.line(text) == expected)
    }

    @Test("A long log line is cut at a character")
    func longLogLine() {
        let line = WorkerLog.line(String(repeating: "\u{1F510}", count: 2000))
        #expect(line.utf8.count <= WorkerMessage.logLineLimit)
        #expect(line.utf8.count > WorkerMessage.logLineLimit - 8)
        #expect(line.hasSuffix("…"))
    }

    @Test("Log lines that the manager is too slow for are lost, counted, and told")
    func lostLogLines() throws {
        let (manager, far) = try makeChannelPair()
        let channel = WorkerChannel(far)
        let log = WorkerLog(channel, level: .info)
        for _ in 0..<5000 { log.write(.info, "flood") }
        log.write(.debug, "not wanted")
        var received = 0
        while case .message = try manager.receive() { received += 1 }
        #expect(received > 0 && received < 5000)
        log.write(.info, "after")
        #expect(
            try manager.receiveWaiting()?.message == .log(.warning, "\(5000 - received) log lines were lost"))
        #expect(try manager.receiveWaiting()?.message == .log(.info, "after"))
    }
}
