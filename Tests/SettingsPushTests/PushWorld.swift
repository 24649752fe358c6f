import WireGuard

@testable import SettingsPush

/// A registry of one peer: the current snapshot, and every one that was ever published.
struct Registry: SnapshotSource {
    private(set) var epoch: UInt128
    private(set) var serial: UInt64 = 0
    private(set) var current: PublishedSnapshot?
    private(set) var published: [SnapshotVersion: [UInt8]] = [:]
    var lease = LeaseDuration.standard
    /// Answered in place of a snapshot.
    var refusal: SnapshotOffer?
    private(set) var offers = 0

    init(epoch: UInt128) { self.epoch = epoch }

    /// Publishes content under the next serial.
    mutating func publish(_ bytes: [UInt8]) {
        serial += 1
        let snapshot = PublishedSnapshot(bytes: bytes, epoch: epoch, serial: serial)
        current = snapshot
        published[snapshot.version] = bytes
    }

    /// A gateway with another registry takes over: a new epoch, serials from 1.
    mutating func beginEpoch(_ epoch: UInt128) {
        self.epoch = epoch
        serial = 0
        if let current { publish(current.bytes) }
    }

    mutating func offer(to peer: PublicKey, families: AddressFamilies) -> SnapshotOffer {
        offers += 1
        if let refusal { return refusal }
        return current.map { .snapshot($0, lease: lease) } ?? .busy(retryAfterSeconds: 1)
    }

    mutating func currentSnapshot(of peer: PublicKey) -> PublishedSnapshot? { refusal == nil ? current : nil }
}

/// A client, a gateway, and a bad network between them, on one virtual clock; a host that answers every wish to apply.
final class PushWorld {
    static let peer = PublicKey(Key256(words: SIMD4(1, 2, 3, 4)))

    var client: ClientMachine
    var gateway: GatewayMachine
    var registry: Registry
    var random: SeededRandom
    var now = Instant.zero + .seconds(1_000_000)
    /// What the client's clock is ahead of the world's, and how far it was set back.
    var clientAhead = TimeSpan.seconds(0)
    var clientBehind = TimeSpan.seconds(0)
    /// Chances in a thousand.
    var loss: UInt64 = 0
    var duplication: UInt64 = 0
    var applyFailure: UInt64 = 0
    var delay = TimeSpan.milliseconds(20)
    var applyTime = TimeSpan.milliseconds(50)
    /// Sees each message before the network does; false loses it.
    var filter: ((Message, _ isFromClient: Bool) -> Bool)?

    /// What the host has in force.
    private(set) var host = DesiredSettings.bare
    private(set) var applying: (id: UInt64, desired: DesiredSettings, end: Instant)?
    private(set) var actions: [ClientAction] = []
    private(set) var outputs: [GatewayOutput] = []
    /// Breaches of what holds at all times.
    private(set) var breaches: [String] = []
    private var highest: [UInt128: UInt64] = [:]
    private var flying: [(at: Instant, order: Int, bytes: [UInt8], isFromClient: Bool)] = []
    private var order = 0

    init(policy: PushPolicy, context: PolicyContext, seed: UInt64) {
        random = SeededRandom(seed: seed)
        client = ClientMachine(policy: policy, context: context, families: [.ipv4, .ipv6], seed: random.next())
        gateway = GatewayMachine(seed: random.next())
        registry = Registry(epoch: UInt128(random.next()) << 64 | 1)
    }

    /// Starts the client, and its session at once.
    func start() {
        client.start(now: clientNow)
        sessionUp()
    }

    func sessionUp() {
        client.sessionUp(now: clientNow)
        gateway.sessionUp(Self.peer, now: now)
        collect()
    }

    /// The gateway's process begins anew, with the same registry.
    func restartGateway() {
        gateway = GatewayMachine(seed: random.next())
        gateway.sessionUp(Self.peer, now: now)
    }

    func publish(_ bytes: [UInt8]) {
        registry.publish(bytes)
        gateway.snapshotChanged(of: Self.peer, now: now)
        collect()
    }

    func stop() {
        client.stop(now: clientNow)
        collect()
    }

    func deliverToClient(_ message: Message) {
        client.handleMessage(message.bytes, now: clientNow)
        collect()
    }

    /// The results that reached the gateway, a repeated one once.
    var results: [SettingsResult] {
        var seen: [SettingsResult] = []
        for case .result(let result, _) in outputs where seen.last != result { seen.append(result) }
        return seen
    }

    var clientNow: Instant { Instant(nanoseconds: (now + clientAhead).nanoseconds - clientBehind.nanoseconds) }

    func run(seconds: Double) { run(until: now + TimeSpan(nanoseconds: UInt64(seconds * 1e9))) }

    func run(until end: Instant) {
        collect()
        while let next = nextEvent, next <= end {
            now = max(now, next)
            perform()
            collect()
        }
        now = max(now, end)
    }

    private var nextEvent: Instant? {
        let client = client.nextTimeout.map {
            Instant(
                nanoseconds: ($0 + clientBehind).nanoseconds - min(clientAhead, $0 + clientBehind - .zero).nanoseconds)
        }
        return [flying.map(\.at).min(), client, gateway.nextTimeout, applying?.end].compactMap(\.self).min()
    }

    private func perform() {
        if let (id, desired, end) = applying, now >= end {
            applying = nil
            // A host that cannot even apply the profile's settings ends the start, and with it the conversation.
            let succeeds = random.below(1000) >= applyFailure || client.life == .starting && desired.version == nil
            if succeeds { host = desired }
            client.handleApplied(id, succeeded: succeeds, now: clientNow)
            collect()
            if applying == nil, client.applied != host {
                breaches.append("the client believes \(client.applied.version as Any)")
            }
        }
        while let index = flying.indices.filter({ flying[$0].at <= now }).min(by: {
            (flying[$0].at, flying[$0].order) < (flying[$1].at, flying[$1].order)
        }) {
            let message = flying.remove(at: index)
            if message.isFromClient {
                gateway.handleMessage(message.bytes, from: Self.peer, now: now, source: &registry)
            } else {
                client.handleMessage(message.bytes, now: clientNow)
            }
            collect()
        }
        client.handleTimeout(now: clientNow)
        gateway.handleTimeout(now: now, source: &registry)
    }

    private func collect() {
        while let action = client.pollAction() {
            actions.append(action)
            switch action {
            case .send(let bytes): fly(bytes, isFromClient: true)
            case .apply(let id, let desired): begin(id, desired)
            default: break
            }
        }
        while let output = gateway.pollOutput() {
            outputs.append(output)
            if case .send(let bytes, _) = output { fly(bytes, isFromClient: false) }
        }
    }

    private func begin(_ id: UInt64, _ desired: DesiredSettings) {
        if applying != nil { breaches.append("two at a time") }
        applying = (id, desired, now + applyTime)
        guard case .pushed(let version, let outcome) = desired else { return }
        if registry.published[version] != outcome.snapshot.canonicalBytes { breaches.append("made-up content") }
        // Only the way back goes back.
        guard desired != client.confirmed else { return }
        if version.serial < highest[version.epoch] ?? 0 {
            breaches.append("serial \(version.serial) after a later one")
        }
        highest[version.epoch] = max(version.serial, highest[version.epoch] ?? 0)
    }

    private func fly(_ bytes: [UInt8], isFromClient: Bool) {
        if bytes.count > Message.maximumByteCount { breaches.append("a message that does not fit") }
        if let filter {
            guard let message = try? Message(bytes: bytes), filter(message, isFromClient) else { return }
        }
        for _ in 0..<(random.below(1000) < duplication ? 2 : 1) where random.below(1000) >= loss {
            order += 1
            let wait = TimeSpan(nanoseconds: 1000 + random.below(max(delay.nanoseconds, 1)))
            flying.append((now + wait, order, bytes, isFromClient))
        }
    }
}
