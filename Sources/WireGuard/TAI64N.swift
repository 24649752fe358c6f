/// A TAI64N time stamp (whitepaper section 5.1): seconds from 2^62 + 10 s before 1970 and nanoseconds.
public struct TAI64N: Sendable, Hashable, Comparable, BitwiseCopyable {
    /// TAI64 seconds, `0x400000000000000a` at the Unix epoch.
    public var seconds: UInt64
    /// Nanoseconds of the second, below 1,000,000,000.
    public var nanoseconds: UInt32

    /// Makes a stamp from TAI64 seconds and nanoseconds.
    public init(seconds: UInt64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Makes a stamp from the wall clock, CLOCK_REALTIME.
    public init(unixSeconds: Int64, nanoseconds: UInt32) {
        self.init(seconds: Self.epoch &+ UInt64(bitPattern: unixSeconds), nanoseconds: nanoseconds)
    }

    /// The stamp before every other.
    public static let zero = TAI64N(seconds: 0, nanoseconds: 0)
    /// The Unix epoch; WireGuard counts ten leap seconds and no more.
    static let epoch: UInt64 = 0x4000_0000_0000_000a

    /// Seconds since the Unix epoch.
    public var unixSeconds: Int64 { Int64(bitPattern: seconds &- Self.epoch) }

    public static func < (left: TAI64N, right: TAI64N) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    public static func + (left: TAI64N, right: TimeSpan) -> TAI64N {
        let nanoseconds = UInt64(left.nanoseconds) + right.nanoseconds % 1_000_000_000
        return TAI64N(
            seconds: left.seconds &+ right.nanoseconds / 1_000_000_000 &+ nanoseconds / 1_000_000_000,
            nanoseconds: UInt32(nanoseconds % 1_000_000_000))
    }

    /// Reads the 12 big-endian bytes of the wire form.
    init(wire bytes: RawSpan) {
        seconds = UInt64(bytes.bigEndian32(at: 0)) << 32 | UInt64(bytes.bigEndian32(at: 4))
        nanoseconds = bytes.bigEndian32(at: 8)
    }

    /// The 12 big-endian bytes of the wire form.
    var wire: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: seconds.byteSwapped)
        bytes.append(littleEndian: nanoseconds.byteSwapped)
        return bytes
    }
}

/// The two clocks, read together once per call by the driver.
public struct Moment: Sendable, Hashable, BitwiseCopyable {
    /// CLOCK_BOOTTIME: every timer and age.
    public var instant: Instant
    /// CLOCK_REALTIME: only the time stamp in initiations and the time of the last handshake shown to users.
    public var wallClock: TAI64N

    /// Pairs the two readings.
    public init(instant: Instant, wallClock: TAI64N) {
        self.instant = instant
        self.wallClock = wallClock
    }
}
