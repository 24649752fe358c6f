import SettingsPush
import WireGuard

/// What a gateway sends to a client, and a client to a gateway.
extension FuzzTarget {
    /// A snapshot has one spelling, and the filter lets nothing through that no tunnel may have.
    static func runPushSnapshot(_ bytes: [UInt8]) -> Bool {
        guard let decoded = try? Snapshot.decode(bytes, limits: .hard) else { return false }
        if decoded.ignored.isEmpty {
            precondition(decoded.snapshot.canonicalBytes == bytes, "a snapshot has a second spelling")
        }
        let ceiling = ["10.0.0.0/8", "fd00::/8"].compactMap { IPPrefix($0) }
        let filter = PolicyFilter(policy: PushPolicy(), context: PolicyContext(ceiling: ceiling))
        let outcome = filter.filter(decoded.snapshot)
        for route in outcome.settings.routes {
            precondition(
                ceiling.contains { $0.length <= route.length && $0.contains(route.address) }, "beyond the ceiling")
        }
        precondition(outcome.settings.dns?.capturesAll != true, "all names without consent")
        precondition(outcome.findings.count <= 32)
        for decision in outcome.decisions {
            let text = decision.explanation(offeredBy: "gateway", place: nil).description
            precondition(
                text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 127 }, "an explanation is not plain")
        }
        return true
    }

    /// A message that is read is written the same.
    static func runPushMessage(_ bytes: [UInt8]) -> Bool {
        var gateway = GatewayMachine(seed: 1)
        var source = FuzzRegistry()
        gateway.handleMessage(bytes, from: FuzzRegistry.peer, now: .zero, source: &source)
        var answers = 0
        while gateway.pollOutput() != nil { answers += 1 }
        precondition(answers <= 65, "a message has more answers than a queue holds")
        guard let message = try? Message(bytes: bytes) else { return false }
        let again = try? Message(bytes: message.bytes)
        precondition(again == message, "a message does not survive being written")
        precondition(message.bytes.count <= bytes.count, "a message grows")
        return true
    }

    /// A conversation as a client sees it: a byte of how, two of length, and that much of a message, again and again.
    ///
    /// Bit 0 puts the transaction that the client waits for into the message, bit 1 its nonce, bit 2 has the host fail. The
    /// rest is the seconds that pass before.
    ///
    /// - Returns: Whether settings were applied.
    static func runPushClient(_ bytes: [UInt8]) -> Bool {
        var policy = PushPolicy()
        policy.source = .pushPreferred
        let ceiling = ["0.0.0.0/0", "::/0"].compactMap { IPPrefix($0) }
        var client = FuzzClient(
            machine: ClientMachine(
                policy: policy, context: PolicyContext(ceiling: ceiling), families: [.ipv4, .ipv6], seed: 1))
        client.machine.start(now: client.now)
        client.machine.sessionUp(now: client.now)
        client.perform()
        var rest = bytes[...]
        while rest.count >= 3 {
            let (how, length) = (
                rest[rest.startIndex], Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2])
            )
            let message = rest.dropFirst(3).prefix(length)
            rest = rest.dropFirst(3 + message.count)
            client.step(how, Array(message))
        }
        return client.applied
    }
}

/// A registry with one snapshot for everybody.
private struct FuzzRegistry: SnapshotSource {
    static let peer = PublicKey(.zero)
    private let snapshot = PublishedSnapshot(bytes: Array(repeating: 0, count: 70_000), epoch: 1, serial: 1)

    mutating func offer(to peer: PublicKey, families: AddressFamilies) -> SnapshotOffer {
        .snapshot(snapshot, lease: .standard)
    }

    mutating func currentSnapshot(of peer: PublicKey) -> PublishedSnapshot? { snapshot }
}

/// A client whose gateway says whatever the input holds.
private struct FuzzClient {
    var machine: ClientMachine
    var now = Instant(nanoseconds: 1_000_000_000_000)
    private(set) var applied = false
    private var hostFails = false
    private var sent: [UInt8] = []

    init(machine: ClientMachine) { self.machine = machine }

    mutating func step(_ how: UInt8, _ bytes: [UInt8]) {
        now = now + .seconds(UInt64(how >> 3))
        machine.handleTimeout(now: now)
        perform()
        hostFails = how & 4 != 0
        var message = bytes
        if how & 1 != 0, message.count >= 8, sent.count >= 8 { message.replaceSubrange(4..<8, with: sent[4..<8]) }
        // The nonce is the first value of a HELLO and of its answer.
        if how & 2 != 0, message.count >= 28, sent.count >= 28, sent[1] == 1 {
            message.replaceSubrange(20..<28, with: sent[20..<28])
        }
        machine.handleMessage(message, now: now)
        perform()
    }

    mutating func perform() {
        var pending: UInt64?
        while let action = machine.pollAction() {
            switch action {
            case .send(let bytes): sent = bytes
            case .apply(let id, let desired):
                precondition(pending == nil, "two applies at a time")
                pending = id
                applied = applied || desired.version != nil
            default: break
            }
        }
        guard let pending else { return }
        machine.handleApplied(pending, succeeded: !hostFails, now: now)
        perform()
    }
}
