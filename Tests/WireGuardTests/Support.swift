@testable import WireGuard

extension SplitMix: RandomSource {
    mutating func nextKey() -> Key256 { key() }

    /// True with the given chance in a thousand.
    mutating func chance(_ thousandths: UInt64) -> Bool { next() % 1000 < thousandths }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

extension Instant {
    static func seconds(_ value: Double) -> Instant { Instant(nanoseconds: UInt64(value * 1e9)) }
    var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension Moment {
    /// A wall clock that runs with the virtual clock from 2027-01-15 on.
    static func at(_ instant: Instant) -> Moment {
        Moment(
            instant: instant,
            wallClock: TAI64N(unixSeconds: 1_800_000_000, nanoseconds: 0) + TimeSpan(nanoseconds: instant.nanoseconds))
    }
}

// Spans cannot pass through the expectation macros: the same calls with arrays.
extension MessageKind {
    init?(_ bytes: [UInt8]) { self.init(bytes.rawBytes) }
}

extension DataHeader {
    init?(_ bytes: [UInt8]) { self.init(bytes.rawBytes) }
}

extension InnerPacket {
    init?(_ bytes: [UInt8]) { self.init(bytes.rawBytes) }
}

extension TAI64N {
    init(bytes: [UInt8]) { self.init(wire: bytes.rawBytes) }
}

extension CookieChecker {
    func hasValidMAC1(bytes: [UInt8]) -> Bool { firstMAC.isValid(bytes.rawBytes) }

    mutating func hasValidMAC2(bytes: [UInt8], from source: Endpoint, now: Instant) -> Bool {
        hasValidMAC2(bytes.rawBytes, from: source, now: now)
    }
}

extension CookieKeeper {
    mutating func consume(bytes: [UInt8], now: Instant) -> Bool { consume(bytes.rawBytes, now: now) }
}

extension InitiatorHandshake {
    func finish(bytes: [UInt8], identity: Identity, presharedKey: Key256, now: Instant) -> Keypair? {
        finish(bytes.rawBytes, identity: identity, presharedKey: presharedKey, now: now)
    }
}

extension ReceivedInitiation {
    init?(bytes: [UInt8], identity: Identity) { self.init(bytes.rawBytes, identity: identity) }

    mutating func openTimestamp(bytes: [UInt8], peer: RemoteIdentity) -> TAI64N? {
        openTimestamp(bytes.rawBytes, peer: peer)
    }
}
