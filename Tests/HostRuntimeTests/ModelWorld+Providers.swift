import Control
import Foundation
import ProviderKit
import Session
import Synchronization

@testable import HostRuntime
import TestSupport

/// The systems that sessions were made on, by configuration, until the test takes them.
final class Launches: Sendable {
    private let waiting = Mutex<[String: [ScriptedSystem]]>([:])

    /// Makes the system of a session; configurations of the model have their identifier in the server's address.
    func system(for configuration: HostConfiguration) -> ScriptedSystem {
        let system = ScriptedSystem()
        let key = configuration.protocolConfiguration.serverAddress ?? ""
        waiting.withLock { $0[key, default: []].append(system) }
        return system
    }

    /// The system of the next session of a configuration, waiting at most ten seconds.
    func take(_ key: String) throws -> ScriptedSystem {
        let deadline = Date.now.addingTimeInterval(10)
        while true {
            let system = waiting.withLock { waiting -> ScriptedSystem? in
                guard waiting[key]?.isEmpty == false else { return nil }
                return waiting[key]?.removeFirst()
            }
            if let system { return system }
            guard Date.now < deadline else { throw Unexpected("no session of \(key) began") }
            usleep(200)
        }
    }

    func forget() { waiting.withLock { $0 = [:] } }
}

/// What providers, and those who kill their processes, do.
extension ModelWorld {
    /// Lets one provider do something that it may do now.
    func provide() throws {
        guard let key = pick({ $0.phase != .idle }), let phase = model.tunnels[key]?.phase, let worker = workers[key]
        else { return try ask() }
        let error = failure()
        let what = random.next(20)
        note("\(phase) \(what) of \(label(key))")
        switch (phase, what) {
        case (_, 0):
            try apply(key) {
                $0.exited()
            } doing: {
                exit(key)
            }
        case (_, 1) where phase != .stopping:
            try apply(key) {
                $0.interfaceLost()
            } doing: {
                systems[key]?.interfaces.all.last?.lose()
            }
        case (.starting, 2), (.restarting, 2), (.up, 2), (.reasserting, 2), (.stopping, 2):
            let cause = random.next(2) == 0 ? nil : error
            try apply(key) {
                $0.cancelled(cause.map { Refusal($0) })
            } doing: {
                try send(.cancelled(cause), worker)
            }
        case (_, 3), (_, 4), (_, 5): try replyToMessage(key, worker)
        case (.starting, 6), (.up, 6): try race(key, worker)
        case (.loading, 7...8), (.reloading, 7...8):
            try apply(key) {
                $0.startFailed(Refusal(error))
            } doing: {
                try send(.failed(error), worker)
            }
        case (.loading, _), (.reloading, _):
            try apply(key) {
                $0.ready()
            } doing: {
                try send(.ready, worker)
            }
        case (.starting, 7), (.restarting, 7):
            try apply(key) {
                $0.startFailed(Refusal(error))
            } doing: {
                try send(.startCompleted(error), worker)
            }
        case (.starting, _), (.restarting, _):
            try apply(key) { tunnel in
                tunnel.phase = .up
                return .nothing
            } doing: {
                try send(.startCompleted(nil), worker)
            }
        // A second completion counts as little as one that comes too late.
        case (.up, 7...9), (.stopping, 7): try send(.startCompleted(what == 8 ? error : nil), worker)
        case (.up, _), (.reasserting, _):
            try apply(key) { tunnel in
                tunnel.phase = phase == .up ? .reasserting : .up
                return .nothing
            } doing: {
                try send(.reasserting(phase == .up), worker)
            }
        case (.stopping, 8): try send(.reasserting(true), worker)
        case (.stopping, _):
            try apply(key) {
                $0.ended()
            } doing: {
                try send(.stopCompleted, worker)
            }
        case (.idle, _): break
        }
    }

    /// A stop and a deed of the provider at the same moment: whichever comes first, the end is one of those that are right.
    private func race(_ key: String, _ worker: FakeWorker) throws {
        guard var tunnel = model.tunnels[key] else { return }
        let error = failure()
        let isStarting = tunnel.phase == .starting
        // The deed, and the errors with which it may end the session at once; what it cannot end was told to stop.
        let deeds: [(WorkerMessage?, ends: [Refusal?])] = [
            (.startCompleted(nil), []), (.startCompleted(error), isStarting ? [Refusal(error)] : []),
            (.cancelled(error), []), (.reasserting(true), []), (nil, [nil, .pluginFailed]),
        ]
        let (message, ends) = deeds[random.next(deeds.count)]
        let stopsFirst = random.next(2) == 0
        note("race of \(stopsFirst ? "a stop" : "a deed") with \(message.map { "\($0)" } ?? "exit")")
        if stopsFirst { sessions.stop(key, .userInitiated) }
        if let message { try send(message, worker) } else { exit(key) }
        if !stopsFirst { sessions.stop(key, .userInitiated) }
        var isTold = false
        try wait("an end of the race", milliseconds: 1) {
            if !isTold, message != nil, case .message(.stop, _)? = try? worker.channel.receive() { isTold = true }
            return isTold || sessions.tunnel(key)?.running == nil
        }
        if isTold {
            tunnel.phase = .stopping
            // What a provider cancels with counts also after the stop; what its start fails with does not.
            if case .cancelled = message { tunnel.pending = Refusal(error) }
            model.tunnels[key] = tunnel
            return try settle(key, .nothing)
        }
        let actual = sessions.tunnel(key)?.state.error.map { Refusal($0) }
        guard ends.contains(actual) else { throw Unexpected("the race ended with \(String(describing: actual))") }
        tunnel.pending = actual
        let effect = tunnel.ended()
        model.tunnels[key] = tunnel
        try settle(key, effect)
    }

    private func replyToMessage(_ key: String, _ worker: FakeWorker) throws {
        guard let message = model.tunnels[key]?.messages.first(where: \.isDelivered),
            let id = deliveries[message.token]
        else { return }
        let bytes: [UInt8]? = random.next(3) == 0 ? nil : [UInt8(random.next(256))]
        model.tunnels[key]?.messages.removeAll { $0.token == message.token }
        due[message.token] = .reply(bytes)
        try send(.appMessageReply(id: id, bytes), worker)
        // A second reply is nobody's.
        if random.next(2) == 0 { try send(.appMessageReply(id: id, [9]), worker) }
        try settle(key, .nothing)
    }

    /// Waits for a worker of the configuration's session, and looks at what it is given.
    func takeWorker(_ key: String) throws {
        let system = try systems[key] ?? launches.take(key)
        systems[key] = system
        let worker = try system.spawned.next()
        workers[key] = worker
        guard case (.configure(let configuration), let descriptors) = try worker.nextWithDescriptors() else {
            throw Unexpected("a worker without a configuration")
        }
        guard configuration.hasSecrets, let memory = descriptors.last else {
            if model.tunnels[key]?.givenSecret != nil { throw Unexpected("a worker without the secret") }
            return
        }
        let filled = try SessionSecrets(reading: memory).filled(into: configuration.protocolConfiguration)
        guard filled.providerConfiguration["key"]?.stringValue == model.tunnels[key]?.givenSecret else {
            throw Unexpected("the worker has another secret than was saved last")
        }
    }

    /// Waits until the worker is told this, and nothing else.
    func expect(_ key: String, _ message: ManagerMessage) throws {
        guard let worker = workers[key] else { throw Unexpected("no worker") }
        let actual = try worker.next()
        if actual != message { throw Unexpected("the worker was told \(actual), not \(message)") }
    }

    /// Waits until the worker is given a message.
    func deliver(_ key: String, _ message: ModelTunnel.Message) throws {
        guard case .appMessage(let id, let bytes, true)? = try workers[key]?.next(),
            bytes == Array("\(message.token)".utf8)
        else { throw Unexpected("another message than \(message.token)") }
        deliveries[message.token] = id
        let index = model.tunnels[key]?.messages.firstIndex { $0.token == message.token }
        if let index { model.tunnels[key]?.messages[index].isDelivered = true }
    }

    /// Ends the process of a provider.
    func exit(_ key: String) {
        workers[key]?.end(random.next(2) == 0 ? .killed(signal: 9) : .exited(3))
    }

    private func send(_ message: WorkerMessage, _ worker: FakeWorker) throws {
        try worker.channel.sendWaiting(message)
    }

    private func failure() -> TunnelFailure {
        TunnelFailure(errorDomain: "model", errorCode: 1 + random.next(9), cause: "It failed.", remedy: "Try again.")
    }
}
