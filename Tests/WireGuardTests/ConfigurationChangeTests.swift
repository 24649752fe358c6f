import Testing

@testable import WireGuard

@Suite("Changes on a live tunnel, and hostile messages")
struct ConfigurationChangeTests {
    let world: World

    init() throws {
        world = try World(seed: 44)
    }

    @Test("Only authentic packets move an endpoint: not forged ones, not replays, not cookie replies")
    func roaming() throws {
        var captured: [[UInt8]] = []
        world.filter = { bytes, isFromLeft in
            if isFromLeft { captured.append(bytes) }
            return true
        }
        world.sendLeft(1)
        world.run(seconds: 1)
        let elsewhere = try #require(Endpoint("203.0.113.5:7"))
        func endpoint() -> Endpoint? { world.right.transport.endpoint(of: world.rightPeer) }
        #expect(endpoint() == world.left.address)
        for bytes in captured {
            world.right.receive(bytes, from: elsewhere, now: world.now)
            var forged = bytes
            forged[forged.count - 1] ^= 1
            world.right.receive(forged, from: elsewhere, now: world.now)
        }
        #expect(endpoint() == world.left.address)
        #expect(world.right.drops[.replayedCounter] >= 1 && world.right.drops[.authenticationFailed] >= 1)
        // The forged byte of the initiation is in its second MAC, which counts only under load: a replay, too.
        #expect(world.right.device.drops[.replayedInitiation] == 2)
        world.left.address = elsewhere
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(endpoint() == elsewhere)
    }

    @Test("A packet whose inner source belongs to another peer is dropped, yet its sender still roams")
    func sourceOfAnotherPeer() throws {
        world.sendLeft(1)
        world.run(seconds: 1)
        let other = PublicKey(world.random.key())
        _ = world.right.add(other, at: nil, owning: try prefixes("10.0.0.1/32"), now: world.now)
        let elsewhere = try #require(Endpoint("203.0.113.5:7"))
        world.left.address = elsewhere
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(!world.rightGot(2))
        #expect(world.right.drops[.sourceNotAllowed] == 1)
        #expect(world.right.transport.endpoint(of: world.rightPeer) == elsewhere)
    }

    @Test("A preshared key set on both sides while the initiation is under way reaches that handshake")
    func presharedKeyDuringHandshake() {
        world.delay = .milliseconds(0)
        world.sendLeft(1)
        let key = PresharedKey(world.random.key())
        world.left.device.setPresharedKey(key, of: world.leftPeer)
        world.right.device.setPresharedKey(key, of: world.rightPeer)
        world.run(seconds: 1)
        #expect(world.rightGot(1))
        #expect(world.left.initiationsSent.count == 1)
    }

    @Test("A preshared key on one side only prevents sessions, and removing it lets them come")
    func presharedKeyMismatch() {
        world.left.device.setPresharedKey(PresharedKey(world.random.key()), of: world.leftPeer)
        world.sendLeft(1)
        world.run(seconds: 20)
        #expect(!world.rightGot(1))
        #expect(world.left.device.drops[.authenticationFailed] >= 1)
        world.left.device.setPresharedKey(nil, of: world.leftPeer)
        world.run(seconds: 10)
        #expect(world.rightGot(1))
    }

    @Test("A new private key ends the old sessions and the next packet makes new ones at once")
    func privateKeyChange() throws {
        world.sendLeft(1)
        world.run(seconds: 1)
        let key = PrivateKey(world.random.key())
        world.left.device.setPrivateKey(key, now: world.now)
        world.left.service(world.now)
        #expect(world.left.transport.sessionCount == 0)
        world.right.device.removePeer(world.rightPeer)
        world.right.drain(world.now)
        _ = try #require(
            world.right.add(
                key.publicKey, at: world.left.address, owning: try prefixes("10.0.0.1/32"), now: world.now))
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2))
    }

    @Test("Our own public key is no peer, whether it comes before or after the private key")
    func ownKey() {
        let key = PrivateKey(world.random.key())
        let own = world.left.device.publicKey
        let asPeer = own.flatMap { world.left.device.addPeer($0, endpoint: nil) }
        #expect(own != nil && asPeer == nil)
        let future = world.left.device.addPeer(key.publicKey, endpoint: nil)
        #expect(future != nil)
        world.left.device.setPrivateKey(key, now: world.now)
        let found = world.left.device.peer(named: key.publicKey)
        #expect(found == nil)
    }

    @Test(
        "Nothing is ever sent to a public key of low order",
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ])
    func lowOrder(hex: String) throws {
        let key = PublicKey(try #require(Key256(hex: hex)))
        let added = world.left.add(
            key, at: world.right.address, owning: try prefixes("10.9.9.9/32"), now: world.now)
        let peer = try #require(added)
        world.left.device.setKeepaliveInterval(1, of: peer, now: world.now)
        world.left.service(world.now)
        world.left.send(World.packet(from: 1, to: 0x0a09_0909, id: 1), now: world.now)
        world.run(seconds: 30)
        #expect(world.sent == 0)
        #expect(world.left.staged[peer] == nil)
    }

    @Test("A replayed initiation and a flood of them from one peer are dropped")
    func initiationReplayAndFlood() throws {
        var initiations: [[UInt8]] = []
        let identity = Identity(try #require(world.left.privateKey))
        let rightKey = try #require(world.right.publicKey).key
        let shared = X25519.sharedSecret(identity.privateKey, rightKey)
        let remote = RemoteIdentity(publicKey: rightKey, staticShared: shared, presharedKey: .zero)
        var keeper = CookieKeeper(rightKey)
        for step in 0..<20 as Range<UInt64> {
            let begun = InitiatorHandshake.begin(
                from: identity, to: remote, ephemeral: world.random.key(), index: UInt32(step),
                timestamp: TAI64N(unixSeconds: 1_900_000_000 + Int64(step), nanoseconds: 0))
            var message = try #require(begun).1
            keeper.appendMACs(to: &message, now: world.now)
            initiations.append(message)
        }
        for (step, message) in initiations.enumerated() {
            world.right.receive(
                message, from: world.left.address, now: world.now + .milliseconds(UInt64(step)))
        }
        #expect(world.right.device.drops[.initiationFlood] == 19)
        for message in initiations.prefix(1) {
            world.right.receive(message, from: world.left.address, now: world.now + .seconds(5))
        }
        #expect(world.right.device.drops[.replayedInitiation] == 1)
        #expect(world.right.transport.sessionCount == 1)
    }

    @Test("Random bytes, truncations and flipped bits of every message are counted, none crashes or is delivered")
    func hostileBytes() {
        var captured: [[UInt8]] = []
        world.filter = { bytes, _ in
            captured.append(bytes)
            return true
        }
        world.sendLeft(1)
        world.run(seconds: 1)
        var random = SplitMix(seed: 5)
        for _ in 0..<4000 {
            var bytes = captured[random.below(captured.count)]
            switch random.below(3) {
            case 0: bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
            case 1: bytes.removeLast(1 + random.below(bytes.count))
            default: bytes = (0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
            world.right.receive(bytes, from: world.left.address, now: world.now)
            world.left.receive(bytes, from: world.right.address, now: world.now)
        }
        #expect(world.right.delivered.count == 1 && world.left.delivered.isEmpty)
        for machine in [world.left, world.right] {
            #expect(machine.drops.total + machine.device.drops.total == 4000)
        }
    }
}
