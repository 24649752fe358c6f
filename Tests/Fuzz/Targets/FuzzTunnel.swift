@testable import WireGuard

/// One end of a tunnel with the published test keys; what it sends is the published messages, byte for byte.
struct FuzzTunnel: ~Copyable {
    private static let keys = (
        initiator: Key256(base64: "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFk="),
        responder: Key256(base64: "cFIxTUyBs1Qil414hBwEgvasEax8CKJ5IS5ZougplWs="),
        initiatorEphemeral: Key256(base64: "iCv2VTi/BC/q0egU931KXrrQ4TSwXaezMgrhh7uCbXs="),
        responderEphemeral: Key256(base64: "8G1N3LnEqYC7+NW/b6mqceVUIGBMAZSm+IpwG1U0j0w="),
        preshared: Key256(base64: "//////////////////////////////////////////8=")
    )
    static let now = Moment(
        instant: Instant(nanoseconds: 1_000_000_000_000),
        wallClock: TAI64N(seconds: 0x4000_0000_6553_f10a, nanoseconds: 0))
    static let peerAddress = Endpoint(.v4(0xc000_0201), port: 51_820, scope: 0)

    var device = Device(timestamps: TimestampGuard(last: .zero))
    var transport = Transport()
    private var random: ScriptedRandom
    private let ownKey: PublicKey
    /// The messages that were sent.
    private(set) var sent: [[UInt8]] = []

    /// Makes the initiator, which has sent its initiation, or the responder, which waits for it.
    init(isInitiator: Bool) {
        guard let initiator = Self.keys.initiator.map(PrivateKey.init),
            let responder = Self.keys.responder.map(PrivateKey.init),
            let preshared = Self.keys.preshared.map(PresharedKey.init),
            let ephemeral = isInitiator ? Self.keys.initiatorEphemeral : Self.keys.responderEphemeral
        else { preconditionFailure("a published key is mistyped") }
        let own = isInitiator ? initiator : responder
        ownKey = own.publicKey
        random = ScriptedRandom(index: isInitiator ? 0x1122_3344 : 0x5566_7788, ephemeral: ephemeral)
        device.setPrivateKey(own, now: Self.now.instant)
        let peer = device.addPeer((isInitiator ? responder : initiator).publicKey, endpoint: Self.peerAddress)
        guard let peer else { preconditionFailure("the peer was not added") }
        device.setPresharedKey(preshared, of: peer)
        perform()
        guard isInitiator else { return }
        _ = transport.beginSeal(to: peer, packets: 1, bytes: 64, kind: .data, now: Self.now.instant)
        while let dirty = transport.takeDirty(now: Self.now.instant) {
            device.handleDirty(dirty, now: Self.now, random: &random)
        }
        perform()
        precondition(sent.count == 1 && sent[0].count == MessageSize.initiation, "no initiation was sent")
    }

    /// Receives a handshake or cookie message, and returns why it was dropped.
    mutating func receive(_ datagram: [UInt8]) -> DropReason? {
        let reason = device.handleDatagram(
            datagram.rawBytes, from: Self.peerAddress, now: Self.now, random: &random)
        perform()
        return reason
    }

    /// The datagram with the first MAC that this end demands: without it nearly every input ends at the MAC.
    func signed(_ datagram: [UInt8]) -> [UInt8] {
        guard datagram.count >= 32 else { return datagram }
        var message = Array(datagram.dropLast(32))
        var keeper = CookieKeeper(ownKey.key)
        keeper.appendMACs(to: &message, now: Self.now.instant)
        return message
    }

    private mutating func perform() {
        while let action = device.pollAction() {
            if case .transmit(let bytes, _) = transport.apply(action, now: Self.now.instant) { sent.append(bytes) }
        }
    }
}

/// The random numbers of the published messages, in the order in which a handshake draws them; then counted ones.
private struct ScriptedRandom: RandomSource {
    private var keys: [Key256]
    private var count: UInt64 = 0

    init(index: UInt32, ephemeral: Key256) {
        keys = [ephemeral, Key256(words: SIMD4(UInt64(index), 0, 0, 0))]
    }

    mutating func nextKey() -> Key256 {
        count += 1
        return keys.popLast() ?? Key256(words: SIMD4(count, 1, 1, 1))
    }
}
