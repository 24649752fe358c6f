import Control
import Foundation
import ProviderKit
import Session
import Synchronization
import SystemStore

@testable import HostRuntime
import TestSupport

/// A manager whose clients and providers are played by a seed, beside the model of what it should do.
///
/// After each step the world waits until the model's prediction has come true, so that a seed replays; only
/// ``race()`` lets the session's thread and the manager's meet.
final class ModelWorld {
    /// How a call was answered.
    enum Answer: Equatable {
        case reply([UInt8]?)
        case refused(Refusal)
        case garbled
        /// No reply of the provider, or none because the session was over already.
        case dropped

        func matches(_ actual: Answer) -> Bool {
            self == actual || (self == .dropped && [.reply(nil), .refused(.notRunning)].contains(actual))
        }
    }

    let folder: String
    let launches = Launches()
    var random: SplitMix
    var model = ManagerModel()
    var service: ManagerService
    /// What each client has loaded last, by identifier; it does not know what was changed since.
    var views: [ModelClient: [String: ManagedConfiguration]] = [:]
    /// The identifiers that were ever saved, in order.
    var keys: [String] = []
    var systems: [String: ScriptedSystem] = [:]
    var workers: [String: FakeWorker] = [:]
    /// What the worker of a tunnel calls the messages that were delivered to it, by token.
    var deliveries: [UInt64: UInt64] = [:]
    /// Answers by the token of the call: those that came, and those that must come in this step.
    var answers: [UInt64: [Answer]] = [:]
    var due: [UInt64: Answer] = [:]
    var lastToken: UInt64 = 0
    /// What happened last, for whoever looks for the cause of a failure.
    var history: [String] = []
    /// What the walk has seen, so that a walk that sees little is noticed.
    var edges: Set<[VPNStatus]> = []
    var phases: Set<ModelTunnel.Phase> = []
    var refusals: Set<Refusal> = []
    private var published: [String: (status: VPNStatus, sequence: Int)] = [:]
    private var faults: [String] = []

    static let legalEdges: Set<[VPNStatus]> = [
        [.disconnected, .invalid], [.invalid, .disconnected], [.disconnected, .connecting],
        [.connecting, .connected], [.connecting, .disconnecting], [.connected, .reasserting],
        [.connected, .disconnecting], [.reasserting, .connected], [.reasserting, .disconnecting],
        [.disconnecting, .disconnected], [.disconnecting, .invalid],
    ]

    init(seed: UInt64) throws {
        // What a power cut leaves is the matter of other tests: this one shall not wait for a disk.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        folder = parent + "phmodel-" + UUID().uuidString
        random = SplitMix(state: seed)
        service = try Self.open(folder, launches)
        observe()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var sessions: SessionTable { service.sessions }

    private static func open(_ folder: String, _ launches: Launches) throws -> ManagerService {
        var restart = RestartPolicy()
        restart.firstDelay = .zero
        restart.longestDelay = .zero
        restart.resetAfter = .seconds(86_400)
        let sessions = try SessionTable(restart: restart) { launches.system(for: $0) }
        let store = try SystemStore(folder: StateFolder(path: folder))
        return try ManagerService(store: store, sessions: sessions, version: "test", operators: ModelClient.operators)
    }

    /// Does one thing and checks everything that it should have changed.
    func step() throws {
        do {
            try random.next(100) < 45 ? provide() : ask()
            phases.formUnion(model.tunnels.values.map(\.phase))
            if let fault = faults.first { throw Unexpected(fault) }
        } catch {
            throw Unexpected("\(error); the last steps: \(history.suffix(12).joined(separator: "; "))")
        }
    }

    /// Ends every session, and checks that nothing is left and nothing unanswered.
    func finish() throws {
        for key in keys {
            try apply(key) {
                $0.stop(.userInitiated)
            } doing: {
                sessions.stop(key, .userInitiated)
            }
            if model.tunnels[key]?.phase == .stopping {
                try apply(key) {
                    $0.exited()
                } doing: {
                    exit(key)
                }
            }
        }
        try wait("an end of all sessions") { sessions.runningCount == 0 }
        if let late = answers.first(where: { $0.value.count != 1 }) { throw Unexpected("\(late) of one answer") }
        if !due.isEmpty { throw Unexpected("no answer to \(due)") }
    }

    /// Changes the model and the world, and waits until they agree.
    func apply(_ key: String, _ predict: (inout ModelTunnel) -> ModelTunnel.Effect, doing body: () throws -> Void)
        throws
    {
        guard var tunnel = model.tunnels[key] else { return }
        let effect = predict(&tunnel)
        model.tunnels[key] = tunnel
        try body()
        try settle(key, effect)
    }

    /// Waits for what a step should have done to a session.
    func settle(_ key: String, _ effect: ModelTunnel.Effect) throws {
        switch effect {
        case .nothing: break
        case .spawned:
            drop(key) { $0.isDelivered }
            try takeWorker(key)
        case .started:
            try expect(key, .start(options: nil))
            for message in model.tunnels[key]?.messages ?? [] where !message.isDelivered { try deliver(key, message) }
        case .told(let reason):
            drop(key) { !$0.isDelivered }
            try expect(key, .stop(reason))
        case .ended, .relaunched:
            drop(key) { _ in true }
            let number = sessions.tunnel(key)?.running?.number
            try wait("an end of \(key)") { number == nil || sessions.tunnel(key)?.running?.number != number }
            (workers[key], systems[key]) = (nil, nil)
            if effect == .relaunched { try takeWorker(key) }
            if model.tunnels[key]?.isSaved == false { model.tunnels[key] = nil }
        }
        let status = model.tunnels[key]?.status
        try wait("\(status.map { "\($0)" } ?? "the end of") \(key)") { sessions.tunnel(key)?.state.status == status }
        try takeAnswers()
    }

    /// Waits for the answers that are due, and compares them.
    func takeAnswers() throws {
        try wait("the answers \(due)") { due.keys.allSatisfy { answers[$0] != nil } }
        for (token, answer) in due {
            guard let actual = answers[token]?.first, answer.matches(actual) else {
                throw Unexpected("call \(token) was answered \(answers[token] ?? []), not \(answer)")
            }
        }
        due = [:]
    }

    /// Lets the manager deal with what its sessions tell until a condition holds.
    func wait(_ what: @autoclosure () -> String, milliseconds: Int32 = 100, _ condition: () -> Bool) throws {
        let deadline = Date.now.addingTimeInterval(10)
        while !condition() {
            guard Date.now < deadline else { throw Unexpected("waited in vain for \(what())") }
            let bell = sessions.inbox.bell.descriptor.number
            if try ChannelSystem.waitToRead(bell, milliseconds: milliseconds) { sessions.takeEvents() }
        }
    }

    /// Lets the manager die with its sessions, and another one take over the store.
    func restartManager() throws {
        sessions.takeEvents()
        let old = sessions
        (old.onChange, old.onLine, old.onSession) = ({ _ in }, { _, _ in }, { _, _, _ in })
        let (formerService, formerWorkers) = (service, workers)
        // Whoever waited for a message hears nothing any more.
        for message in model.tunnels.values.flatMap(\.messages) { answers[message.token] = nil }
        old.onAnswer = { _, _ in }
        service = try Self.open(folder, launches)
        published = [:]
        observe()
        model.restarted()
        (workers, systems) = ([:], [:])
        old.stopAll(.userInitiated)
        for worker in formerWorkers.values { worker.end(.killed(signal: 9)) }
        let deadline = Date.now.addingTimeInterval(10)
        while formerService.sessions.runningCount > 0 {
            guard Date.now < deadline else { throw Unexpected("sessions of the former manager do not end") }
            _ = try ChannelSystem.waitToRead(old.inbox.bell.descriptor.number, milliseconds: 100)
            old.takeEvents()
        }
        launches.forget()
    }

    private func observe() {
        let tell = sessions.onChange
        sessions.onChange = { [unowned self] tunnel in
            tell(tunnel)
            note(tunnel.state)
        }
        sessions.onAnswer = { [unowned self] token, frame in
            answers[token, default: []].append(Self.answer(frame))
        }
        for tunnel in sessions.all { note(tunnel.state) }
    }

    private func note(_ state: SessionState) {
        let before = published[state.identifier]
        published[state.identifier] = (state.status, state.sequence)
        guard let before else { return }
        if state.sequence <= before.sequence { faults.append("the sequence \(state.sequence) is an old one") }
        guard state.status != before.status else { return }
        let edge = [before.status, state.status]
        edges.insert(edge)
        if !Self.legalEdges.contains(edge) { faults.append("\(before.status) became \(state.status)") }
    }

    private static func answer(_ frame: [UInt8]) -> Answer {
        do {
            let reply = try IncomingReply(frame: frame.dropLast())
            if reply.error == FailureMessage.errorName {
                return .refused(Refusal(try reply.parameters(as: FailureMessage.self).failure))
            }
            guard reply.error == nil else { return .garbled }
            return .reply(try reply.parameters(as: ManagerMessages.MessageReply.self).bytes)
        } catch {
            return .garbled
        }
    }

    /// Messages of a tunnel that get no reply any more.
    private func drop(_ key: String, where isDropped: (ModelTunnel.Message) -> Bool) {
        for message in model.tunnels[key]?.messages ?? [] where isDropped(message) { due[message.token] = .dropped }
        model.tunnels[key]?.messages.removeAll(where: isDropped)
    }
}
