import ProviderKit
import Session
import Testing
import TestSupport

/// Random events of a world that also lies: the invariants hold whatever comes.
@Suite struct RandomOperationTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `invariants hold over 25,000 random events`(seed: UInt64) {
        var world = World(seed: seed)
        for _ in 0..<25_000 where world.faults.isEmpty { world.step() }
        world.drain()
        #expect(world.faults.isEmpty, "seed \(seed), after \(world.steps) steps")
        // The walk must have been everywhere, or it proves nothing.
        #expect(Set(world.edges.map(\.to)) == [0, 1, 2, 3, 4, 5])
        #expect(world.edges == World.legalEdges)
    }
}

/// The world around a machine, with a record of what it may and may not do.
private struct World {
    struct Edge: Hashable { var from: Int, to: Int }

    static let legalEdges: Set<Edge> = [
        Edge(from: 0, to: 1), Edge(from: 1, to: 0), Edge(from: 1, to: 2), Edge(from: 2, to: 3), Edge(from: 2, to: 5),
        Edge(from: 3, to: 4), Edge(from: 3, to: 5), Edge(from: 4, to: 3), Edge(from: 4, to: 5), Edge(from: 5, to: 1),
    ]

    var random: SplitMix
    var machine = SessionMachine(deadlines: Deadlines(), restart: RestartPolicy(), disconnectsOnSleep: false)
    var now = Instant(nanoseconds: 0)
    var steps = 0
    var faults: [String] = []
    var edges: Set<Edge> = []

    var status = VPNStatus.disconnected
    var workerAlive = false
    var workerKilled = false
    var creatingInterface = false
    var hasInterface = false
    var tearingDown = false
    var applying: [UInt64] = []
    var openSettings: Set<UInt64> = []
    var openMessages: Set<UInt64> = []
    var sleepPending = false
    var stopsOfWorker = 0
    var startsAccepted = 0
    var startsBegun = 0
    var startsDropped = 0
    var nextID: UInt64 = 0

    init(seed: UInt64) { random = SplitMix(state: seed) }

    mutating func step() {
        steps += 1
        if random.next(3) == 0 {
            now = now + .milliseconds(random.next(4) == 0 ? random.next(90_000) : random.next(900))
        }
        switch random.next(27) {
        case 0, 1: start()
        case 2: stop(.stopRequested(.userInitiated))
        case 3, 4, 5: obeyOne()
        case 6, 7: send(.workerReady)
        case 8: send(.workerFailed(providerFailure))
        case 9 where workerAlive && !workerKilled && random.next(3) == 0: exitWorker(.killed(signal: 11))
        case 10, 11: send(.startCompleted(failure: nil))
        case 12: send(.startCompleted(failure: providerFailure))
        case 13, 14: send(.stopCompleted)
        case 15 where random.next(3) == 0: send(.cancelled(failure: random.next(2) == 0 ? nil : providerFailure))
        case 16, 17: send(.reasserting(random.next(2) == 0))
        case 18: requestSettings()
        case 19: message()
        case 20: send(.messageReply(id: random.next() % max(nextID, 1), [1]))
        case 21: sleep()
        case 22: send(random.next(2) == 0 ? .sleepCompleted : .wake)
        case 23 where random.next(8) == 0: send(.interfaceLost(name: "tun0"))
        case 24 where random.next(6) == 0: stop(.configurationChanged(random.next(2) == 0 ? .disabled : .removed))
        case 25: send(.configurationChanged(.enabled))
        default: fireDeadline()
        }
    }

    /// Lets everything that is under way come to its end.
    mutating func drain() {
        send(.configurationChanged(.enabled))
        for _ in 0..<100 where faults.isEmpty {
            stop(.stopRequested(.userInitiated))
            for _ in 0..<8 { obeyOne() }
            guard let next = machine.nextDeadline else { break }
            now = max(now, next)
            send(.deadline)
        }
        check(
            machine.status == .disconnected && machine.nextDeadline == nil, "the end is disconnected without a deadline"
        )
        check(!workerAlive && !hasInterface && !creatingInterface, "nothing is left")
        check(openSettings.isEmpty, "every settings call was answered")
        check(openMessages.isEmpty, "every message was answered")
        check(!sleepPending, "every sleep was answered")
    }

    private mutating func start() {
        let wasIdle = status == .disconnected
        do {
            let actions = try machine.start(options: ["n": .integer(startsAccepted)], isOnDemand: false, at: now)
            startsAccepted += 1
            check(wasIdle || status == .disconnecting, "a start is accepted in \(status)")
            perform(actions)
        } catch {
            check(!wasIdle, "a start is refused while disconnected")
        }
    }

    private mutating func stop(_ event: SessionEvent) {
        if startsAccepted - startsBegun - startsDropped == 1 { startsDropped += 1 }
        send(event)
    }

    /// The system does one of the things that it was asked for.
    private mutating func obeyOne() {
        if creatingInterface {
            creatingInterface = false
            hasInterface = random.next(8) != 0
            send(.interfaceCreated(failure: hasInterface ? nil : providerFailure))
        } else if workerKilled {
            exitWorker(.killed(signal: 9))
        } else if let id = applying.popLast() {
            send(.settingsApplied(id: id, failure: random.next(4) == 0 ? providerFailure : nil))
        } else if tearingDown {
            tearingDown = false
            hasInterface = false
            send(.tornDown(failure: random.next(8) == 0 ? providerFailure : nil))
        }
    }

    private mutating func exitWorker(_ how: WorkerExit) {
        workerAlive = false
        workerKilled = false
        send(.workerExited(how))
    }

    private mutating func requestSettings() {
        nextID += 1
        openSettings.insert(nextID)
        send(.settingsRequested(id: nextID, random.next(3) == 0 ? nil : someSettings))
    }

    private mutating func message() {
        nextID += 1
        openMessages.insert(nextID)
        send(.message(id: nextID, [1], wantsReply: true))
    }

    private mutating func sleep() {
        sleepPending = true
        send(.sleep)
    }

    private mutating func fireDeadline() {
        if random.next(2) == 0, let next = machine.nextDeadline { now = max(now, next) }
        send(.deadline)
    }

    private mutating func send(_ event: SessionEvent) { perform(machine.handle(event, at: now)) }

    private mutating func perform(_ actions: [SessionAction]) {
        for action in actions { note(action) }
        check(machine.status == status, "the status is what was published")
        if status == .disconnected || status == .invalid {
            check(machine.nextDeadline == nil, "no deadline stays armed in \(status)")
            check(!workerAlive && !hasInterface, "nothing stays alive in \(status)")
        }
        check(
            (status == .connected || status == .reasserting) == (machine.connectedSince != nil)
                || status == .disconnecting,
            "the connected date belongs to \(status)")
    }

    private mutating func note(_ action: SessionAction) {
        switch action {
        case .createInterface:
            check(!hasInterface && !creatingInterface, "one interface at a time")
            creatingInterface = true
            startsBegun += 1
            check(startsBegun + startsDropped <= startsAccepted, "no session begins without a start")
        case .tearDown:
            check(hasInterface && !tearingDown, "one tear-down of an interface that is there")
            check(!workerAlive && applying.isEmpty, "a tear-down after the worker and the settings call")
            tearingDown = true
        case .spawnWorker:
            check(!workerAlive && hasInterface, "one worker at a time, with an interface")
            workerAlive = true
            stopsOfWorker = 0
        case .terminateWorker:
            check(workerAlive && !workerKilled, "a living worker is killed once")
            workerKilled = true
        case .stopProvider:
            stopsOfWorker += 1
            check(stopsOfWorker == 1, "one stop of a provider")
            check(workerAlive, "a stop of a living worker")
        case .startProvider, .sleepProvider, .wakeProvider, .deliverMessage:
            check(workerAlive && !workerKilled, "calls go to a living worker")
        case .applySettings(let id, _):
            check(applying.isEmpty && hasInterface && !tearingDown, "one settings call at a time, on an interface")
            applying.append(id)
        case .completeSettings(let id, _):
            check(openSettings.remove(id) != nil, "settings call \(id) is answered once")
        case .replyMessage(let id, _), .refuseMessage(let id, _):
            check(openMessages.remove(id) != nil, "message \(id) is answered once")
        case .allowSleep:
            check(sleepPending, "a sleep is answered once")
            sleepPending = false
        case .publish(let next, let error):
            let edge = Edge(from: status.rawValue, to: next.rawValue)
            check(Self.legalEdges.contains(edge), "the edge \(status) to \(next)")
            check(next == .disconnected || error == nil, "an error comes with disconnected only")
            edges.insert(edge)
            status = next
        case .log: break
        }
    }

    private mutating func check(_ holds: Bool, _ what: String) {
        if !holds { faults.append("step \(steps): \(what)") }
    }
}
