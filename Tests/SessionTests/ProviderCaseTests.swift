import ProviderKit
import Session
import Testing

/// The deterministic cases of what shipped providers do, by their identifiers.
@Suite struct ProviderCaseTests {
    @Test func `T1 a start that is never completed is stopped once after 60 seconds`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady)
        rig.advance(.seconds(59))
        #expect(rig.machine.status == .connecting)
        rig.advance(.seconds(1))
        #expect(rig.machine.status == .disconnecting)
        #expect(rig.stops == [.connectionFailed])
        rig.send(.stopCompleted)
        #expect(rig.statuses == [.connecting, .disconnecting, .disconnected])
        #expect(rig.machine.lastDisconnectError == failure(.startTimedOut))
        #expect(rig.machine.ending == .startTimedOut)
        #expect(!rig.machine.stopTimedOut)
        #expect(rig.interfaces == 0 && rig.workers == 0 && rig.stops.count == 1)
    }

    @Test func `T1 a provider that ignores the stop as well is killed 20 seconds later`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady)
        rig.advance(.seconds(79))
        #expect(rig.count(.terminateWorker) == 0)
        rig.advance(.seconds(1))
        #expect(rig.count(.terminateWorker) == 1)
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.lastDisconnectError == failure(.startTimedOut))
    }

    @Test(arguments: [
        [SessionEvent.startCompleted(failure: nil), .startCompleted(failure: nil)],
        [.startCompleted(failure: nil), .startCompleted(failure: providerFailure)],
    ])
    func `T2 only the first completion of a start counts`(completions: [SessionEvent]) throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady)
        for completion in completions { rig.send(completion) }
        rig.advance(.seconds(600))
        rig.send(.startCompleted(failure: nil))
        #expect(rig.statuses == [.connecting, .connected])
        #expect(rig.logLines.count == 2)
        rig.send(.stopRequested(.userInitiated), .startCompleted(failure: nil), .stopCompleted)
        rig.send(.startCompleted(failure: nil))
        #expect(rig.statuses == [.connecting, .connected, .disconnecting, .disconnected])
        #expect(rig.machine.lastDisconnectError == nil)
    }

    @Test func `T2 an error and then success is an error`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady, .startCompleted(failure: providerFailure), .startCompleted(failure: nil))
        #expect(rig.statuses == [.connecting, .disconnecting, .disconnected])
        #expect(rig.machine.lastDisconnectError == providerFailure)
        #expect(rig.machine.ending == .startFailed)
        #expect(rig.stops.isEmpty)
    }

    @Test func `T3 settings are answered while the start is under way`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady, .settingsRequested(id: 1, someSettings))
        #expect(rig.outcomes(ofSettings: 1) == [nil])
        #expect(rig.machine.status == .connecting)
        rig.send(.startCompleted(failure: nil))
        #expect(rig.machine.status == .connected)
    }

    @Test func `T4 a start while connecting or connected is refused and changes nothing`() throws {
        var rig = Rig()
        try rig.start()
        #expect(throws: SessionError(.alreadyActive, cause: "The session is already connecting.")) { try rig.start() }
        rig.send(.workerReady, .startCompleted(failure: nil))
        #expect(throws: SessionError(.alreadyActive, cause: "The session is already connected.")) { try rig.start() }
        #expect(rig.statuses == [.connecting, .connected])
    }

    @Test func `T4 a start while disconnecting waits, so a switch never has two sessions`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.stopRequested(.superceded))
        try rig.start(options: ["to": "B"])
        #expect(throws: SessionError.self) { try rig.start() }
        #expect(rig.machine.status == .disconnecting)
        rig.send(.stopCompleted)
        #expect(rig.statuses == [.connecting, .connected, .disconnecting, .disconnected, .connecting])
        rig.send(.workerReady)
        #expect(rig.count(.startProvider(options: ["to": "B"], isOnDemand: false)) == 1)
        #expect(rig.workers == 1 && rig.interfaces == 1)
    }

    @Test func `T4 a stop drops the start that waits`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.stopRequested(.userInitiated))
        try rig.start()
        rig.send(.stopRequested(.userInitiated), .stopCompleted)
        #expect(rig.statuses.last == .disconnected)
        #expect(rig.stops == [.userInitiated])
    }

    @Test func `T5 a stop that is never completed ends with the worker killed and nothing left`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.stopRequested(.userInitiated))
        rig.advance(.milliseconds(19_999))
        #expect(rig.workers == 1)
        rig.advance(.milliseconds(1))
        #expect(rig.workers == 0 && rig.interfaces == 0)
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.stopTimedOut)
        #expect(rig.machine.ending == .requested(.userInitiated))
        #expect(rig.machine.lastDisconnectError == failure(.stopTimedOut))
    }

    @Test func `T5 four failures in a row after growing waits end the session`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.settingsRequested(id: 1, someSettings))
        for wait in [1, 2, 4] {
            rig.crash()
            #expect(rig.machine.status == .reasserting)
            #expect(rig.interfaces == 1 && rig.workers == 0)
            rig.advance(.seconds(wait) - .milliseconds(1))
            #expect(rig.workers == 0)
            rig.advance(.milliseconds(1))
            #expect(rig.workers == 1)
            rig.send(.workerReady)
        }
        rig.crash()
        #expect(rig.statuses == [.connecting, .connected, .reasserting, .disconnecting, .disconnected])
        #expect(rig.machine.lastDisconnectError?.errorCode == VPNConnectionErrorCode.pluginFailed.rawValue)
        #expect(rig.machine.lastDisconnectError?.cause.contains("4 times in a row") == true)
        #expect(rig.machine.ending == .failed)
        #expect(rig.interfaces == 0)
        #expect(rig.machine.nextDeadline == nil)
    }

    @Test func `T6 a cancel without error inside stop does not stop twice or wipe the error`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.cancelled(failure: providerFailure), .cancelled(failure: nil), .stopRequested(.userInitiated))
        #expect(rig.stops == [.providerFailed])
        rig.send(.cancelled(failure: laterFailure), .stopCompleted)
        #expect(rig.machine.lastDisconnectError == providerFailure)
        #expect(rig.machine.ending == .cancelled(withError: true))
        #expect(rig.actions.last == .publish(.disconnected, error: providerFailure))
    }

    @Test func `T6 a cancel during start comes before the error of the start`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady, .cancelled(failure: providerFailure), .startCompleted(failure: laterFailure))
        rig.send(.stopRequested(.userInitiated), .stopRequested(.userInitiated), .stopCompleted)
        #expect(rig.stops == [.providerFailed])
        #expect(rig.machine.lastDisconnectError == providerFailure)
        #expect(rig.statuses == [.connecting, .disconnecting, .disconnected])
    }

    @Test func `T6 a cancel without error and then an error of the start keeps that error`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady, .cancelled(failure: nil), .startCompleted(failure: providerFailure), .stopCompleted)
        #expect(rig.stops == [ProviderStopReason.none])
        #expect(rig.machine.lastDisconnectError == providerFailure)
    }

    @Test func `T6 the error of a start that a stop broke off is no error`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady, .stopRequested(.userInitiated))
        rig.send(.startCompleted(failure: providerFailure), .stopCompleted)
        #expect(rig.machine.lastDisconnectError == nil)
        #expect(rig.machine.ending == .requested(.userInitiated))
    }

    @Test func `T7 reasserting on, off and a cancel in one turn never show connected in passing`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.reasserting(true), .reasserting(false), .cancelled(failure: providerFailure))
        rig.send(.stopCompleted)
        #expect(rig.statuses == [.connecting, .connected, .reasserting, .disconnecting, .disconnected])
    }

    @Test func `T7 reasserting for ever ends the session`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.reasserting(true))
        rig.advance(.seconds(200))
        rig.send(.reasserting(true))
        rig.advance(.seconds(99))
        #expect(rig.machine.status == .reasserting)
        rig.advance(.seconds(1))
        #expect(rig.stops == [.connectionFailed])
        rig.send(.stopCompleted)
        #expect(rig.machine.lastDisconnectError == failure(.reassertingTimedOut))
    }

    @Test func `T7 reasserting keeps the connected date and ends in connected`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.reasserting(true), .workerReady, .reasserting(true), .startCompleted(failure: nil))
        let since = try #require(rig.machine.connectedSince)
        rig.advance(.seconds(5))
        rig.send(.reasserting(true))
        rig.advance(.seconds(5))
        rig.send(.reasserting(false))
        #expect(rig.statuses == [.connecting, .connected, .reasserting, .connected])
        #expect(rig.machine.connectedSince == since)
        #expect(rig.machine.nextDeadline == nil)
    }

    @Test func `T8 settings three times during start are applied in order without a restart`() throws {
        var rig = Rig()
        rig.appliesSettings = false
        try rig.start()
        rig.send(.workerReady)
        for id in 1...3 { rig.send(.settingsRequested(id: UInt64(id), someSettings)) }
        for id in 1...3 {
            #expect(rig.count(.applySettings(id: UInt64(id), someSettings)) == 1)
            #expect(rig.count(.applySettings(id: UInt64(id) + 1, someSettings)) == 0)
            rig.send(.settingsApplied(id: UInt64(id), failure: nil))
        }
        rig.send(.startCompleted(failure: nil))
        #expect((1...3).allSatisfy { rig.outcomes(ofSettings: $0) == [nil] })
        #expect(rig.count(.spawnWorker) == 1)
        #expect(rig.statuses == [.connecting, .connected])
    }

    @Test func `T17 a message to a stopped session is refused at once`() throws {
        var rig = Rig()
        rig.send(.message(id: 1, [1], wantsReply: true))
        let refusal = TunnelFailure(SessionError(.notRunning, cause: "The session is disconnected."))
        #expect(rig.actions == [.refuseMessage(id: 1, refusal)])
    }

    @Test func `T17 a message while connecting is delivered`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.message(id: 1, [1], wantsReply: true), .message(id: 2, [2], wantsReply: false))
        #expect(rig.count(.deliverMessage(id: 1, [1], wantsReply: true)) == 0)
        rig.send(.workerReady)
        rig.send(.message(id: 3, [3], wantsReply: true))
        let tail = rig.actions.suffix(4)
        #expect(
            Array(tail) == [
                .startProvider(options: nil, isOnDemand: false), .deliverMessage(id: 1, [1], wantsReply: true),
                .deliverMessage(id: 2, [2], wantsReply: false), .deliverMessage(id: 3, [3], wantsReply: true),
            ])
        rig.send(.messageReply(id: 3, [9]), .messageReply(id: 3, [9]))
        #expect(rig.count(.replyMessage(id: 3, [9])) == 1)
    }

    @Test func `T17 a message that is never answered gets no reply after 10 seconds, and the tunnel stays`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.message(id: 1, [1], wantsReply: true))
        rig.advance(.milliseconds(9_999))
        #expect(rig.count(.replyMessage(id: 1, nil)) == 0)
        rig.advance(.milliseconds(1))
        #expect(rig.count(.replyMessage(id: 1, nil)) == 1)
        rig.send(.messageReply(id: 1, [1]))
        #expect(rig.count(.replyMessage(id: 1, [1])) == 0)
        #expect(rig.machine.status == .connected)
    }
}
