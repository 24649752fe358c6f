@testable import WireGuard

/// The four messages of the protocol. The first byte of an input says how the rest of it is delivered.
extension FuzzTarget {
    /// Bit 0 makes the first MAC right, bit 1 puts the responder under load.
    static func runInitiation(_ bytes: [UInt8]) -> Bool {
        runHandshake(bytes, isInitiator: false)
    }

    /// Bit 0 makes the first MAC right, bit 1 puts the initiator under load.
    static func runResponse(_ bytes: [UInt8]) -> Bool {
        runHandshake(bytes, isInitiator: true)
    }

    /// To an initiator that awaits an answer; the first byte says nothing.
    static func runCookieReply(_ bytes: [UInt8]) -> Bool {
        runHandshake([0] + bytes.dropFirst(), isInitiator: true)
    }

    private static func runHandshake(_ bytes: [UInt8], isInitiator: Bool) -> Bool {
        guard let choice = bytes.first else { return false }
        var tunnel = FuzzTunnel(isInitiator: isInitiator)
        let before = tunnel.sent.count
        if choice & 2 != 0 { tunnel.device.noteQueue(depth: 1, capacity: 1, now: FuzzTunnel.now.instant) }
        let rest = Array(bytes.dropFirst())
        let datagram = choice & 1 == 0 ? rest : tunnel.signed(rest)
        let reason = tunnel.receive(datagram)
        let answers = tunnel.sent[before...].map(\.count)
        let expected =
            switch (reason, isInitiator) {
            case (nil, false): [MessageSize.response]
            case (.cookieRequired, _): [MessageSize.cookieReply]
            default: [Int]()
            }
        precondition(answers == expected, "\(reason as DropReason?): the answers have \(answers) bytes")
        // Section 5.1: what was accepted once is a replay.
        if reason == nil { precondition(tunnel.receive(datagram) != nil, "a message was accepted twice") }
        return reason == nil
    }

    /// Bit 0: eight bytes of counter and an inner packet follow, which the peer seals; else a whole datagram.
    static func runTransportData(_ bytes: [UInt8]) -> Bool {
        guard let choice = bytes.first else { return false }
        let now = FuzzTunnel.now.instant
        let key = Key256(hex: "360f69b725f4733f4f593c9a24fead31bed6d76be9f445cfc4ac46d76b59d961") ?? .zero
        let peer = PeerIndex(slot: 0, generation: 0)
        var transport = Transport()
        let keypair = Keypair(
            sendKey: .zero, receiveKey: key, localIndex: 0x5566_7788, remoteIndex: 1, isInitiator: false, birth: now)
        _ = transport.apply(.addPeer(peer, nil), now: now)
        _ = transport.apply(.install(peer, KeypairHandle(keypair)), now: now)
        transport.insertAllowedIPs(["192.168.241.1/32", "fd00::/64"].compactMap { IPPrefix($0) }, for: peer)

        var datagram = Array(bytes.dropFirst())
        if choice & 1 != 0 {
            guard datagram.count >= 8 else { return false }
            let counter = datagram[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            let header = DataHeader(receiverIndex: keypair.localIndex, counter: counter)
            let packet = Array(datagram[8...])
            let padded = Padding.paddedLength(of: packet.count, mtu: 1420)
            datagram = TransportMessage.seal(packet, paddedTo: padded, key: key, header: header)
        }
        return deliver(datagram, to: &transport, from: peer, at: now)
    }

    /// Opens a datagram as a driver does, and returns whether a packet came out of the tunnel.
    private static func deliver(
        _ datagram: [UInt8], to transport: inout Transport, from peer: PeerIndex, at now: Instant
    ) -> Bool {
        guard let header = DataHeader(datagram.rawBytes),
            case .open(let grant) = transport.beginOpen(receiverIndex: header.receiverIndex, now: now),
            let packet = TransportMessage.open(datagram, key: grant.key),
            transport.accept(grant.session, counter: header.counter) == nil
        else { return false }
        precondition(grant.peer == peer, "the session of another peer")
        precondition(transport.accept(grant.session, counter: header.counter) != nil, "a counter was accepted twice")
        var totals = OpenTotals()
        totals.add(datagram: datagram.count)
        _ = transport.finishOpen(grant.session, totals, from: FuzzTunnel.peerAddress, now: now)
        guard let inner = InnerPacket(packet.rawBytes) else { return false }
        precondition(inner.length <= packet.count, "an inner packet reaches beyond its datagram")
        return transport.isAllowed(source: inner.source, from: peer)
    }
}
