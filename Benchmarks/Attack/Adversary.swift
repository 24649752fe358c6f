import Foundation
import Glibc
import WireGuard

/// A peer of the victim that means it ill: it can make a session like any peer.
final class Adversary {
    /// A session with the victim, and the messages that made it.
    struct Session {
        let initiation: [UInt8]
        let response: [UInt8]
        private let grant: SealGrant

        fileprivate init(_ initiation: [UInt8], _ response: [UInt8], _ grant: SealGrant) {
            self.initiation = initiation
            self.response = response
            self.grant = grant
        }

        /// The index that the victim puts into what it sends to us.
        var ownIndex: ArraySlice<UInt8> { initiation[4..<8] }

        /// A sealed packet; an empty one is a keepalive.
        func packet(_ payload: [UInt8] = [], counter: UInt64) -> [UInt8] {
            TransportMessage.seal(
                payload, paddedTo: payload.count, key: grant.key,
                header: DataHeader(receiverIndex: grant.receiverIndex, counter: counter))
        }
    }

    /// A peer has one initiation in 20 ms answered, and time stamps are as coarse as 16.8 ms.
    private static let handshakeInterval: UInt64 = 25_000_000

    let secret: PrivateKey
    let victim: PublicKey
    let target: Endpoint
    let blaster: Blaster
    /// How many sessions it made.
    private(set) var handshakes = 0
    private var lastHandshake = now()

    /// An adversary with the key and the one peer of a wg-quick file.
    init(_ configuration: Configuration) throws {
        guard let peer = configuration.peers.first, case .address(let endpoint) = peer.endpoint else {
            throw BenchmarkError.usage("there is no victim", advice: "Give a file with one peer and its address.")
        }
        secret = configuration.interface.privateKey
        victim = peer.publicKey
        target = endpoint
        blaster = try Blaster()
    }

    /// Makes a session.
    ///
    /// Once the response is there, the victim is done with everything that was sent before.
    func connect() throws -> Session {
        let earliest = lastHandshake + Self.handshakeInterval
        while now() < earliest { usleep(1_000) }
        var half = Half(secret: secret, peer: victim, port: 1)
        half.random = CountingRandom(offset: UInt64.random(in: 0...UInt64.max))
        let time = Self.moment(seconds: 1_000_000)
        let initiation = try half.initiate(time)
        try send([initiation])
        guard let response = receive(type: 2, index: initiation[4..<8], at: 8, milliseconds: 2000) else {
            throw BenchmarkError("the victim did not answer within 2 s", advice: "Does it run, and are we its peer?")
        }
        _ = half.take(response, from: target, at: time)
        lastHandshake = now()
        handshakes += 1
        guard let grant = half.firstGrant(at: time) else {
            throw BenchmarkError("the victim's response is wrong", advice: "Does it have our key?")
        }
        return Session(initiation, response, grant)
    }

    /// An initiation that proves its address with a cookie; nil if the victim is not under load, and gives none.
    func initiateWithCookie() throws -> [UInt8]? {
        var half = Half(secret: secret, peer: victim, port: 1)
        half.random = CountingRandom(offset: UInt64.random(in: 0...UInt64.max))
        let first = try half.initiate(Self.moment(seconds: 1_000_000))
        try send([first])
        guard let cookie = receive(type: 3, index: first[4..<8], at: 4, milliseconds: 200) else { return nil }
        // Virtual seconds: the protocol lets five pass before the next message.
        _ = half.take(cookie, from: target, at: Self.moment(seconds: 1_000_001))
        return try half.initiate(Self.moment(seconds: 1_000_010))
    }

    /// An initiation by nobody that the addressee knows, its first MAC right.
    func strangersInitiation(to addressee: PublicKey) throws -> [UInt8] {
        var keys = CountingRandom(offset: UInt64.random(in: 0...UInt64.max))
        var half = Half(secret: PrivateKey(keys.nextKey()), peer: addressee, port: 1)
        half.random = keys
        return try half.initiate(Self.moment(seconds: 1_000_000))
    }

    func send(_ datagrams: [[UInt8]]) throws { try blaster.send(Load(datagrams, to: target)) }

    private func receive(type: UInt8, index: ArraySlice<UInt8>, at offset: Int, milliseconds: UInt64) -> [UInt8]? {
        let deadline = now() + milliseconds * 1_000_000
        while now() < deadline {
            guard let message = blaster.receive(milliseconds: 50) else { continue }
            if message.first == type, message.dropFirst(offset).starts(with: index) { return message }
        }
        return nil
    }

    /// A virtual instant, at the wall clock's time.
    private static func moment(seconds: UInt64) -> Moment {
        let date = Date.now.timeIntervalSince1970
        let second = date.rounded(.down)
        return Moment(
            instant: Instant(nanoseconds: seconds * 1_000_000_000),
            wallClock: TAI64N(unixSeconds: Int64(second), nanoseconds: UInt32((date - second) * 1e9)))
    }
}
