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

/// Gives every initiation a later time stamp than the one before, whatever the wall clock does.
///
/// A responder refuses stamps that are not later than the last one it saw, for ever. So a clock that goes back must not
/// go back on the wire, and one absurd jump ahead must not be signed. Keep `last` across restarts.
public struct TimestampGuard: Sendable, BitwiseCopyable {
    /// The last stamp that was given out; store it, and hand it to `init` at the next start.
    public private(set) var last: TAI64N
    /// Whether the last stamp was held back because the wall clock ran ahead by more than `maximumAdvance`.
    public private(set) var isHoldingBack: Bool = false
    private var lastInstant: Instant?

    /// How far the wall clock may run ahead of elapsed time before a jump counts as absurd: a day.
    public static let maximumAdvance: TimeSpan = .seconds(86_400)
    /// 2024-01-01: before that a clock was plainly never set, and any jump ahead is a repair.
    static let plausible = TAI64N(unixSeconds: 1_704_067_200, nanoseconds: 0)

    /// Starts from the stored stamp, or `.zero`.
    public init(last: TAI64N) {
        self.last = last
    }

    /// The stamp for an initiation sent now.
    public mutating func next(_ now: Moment) -> TAI64N {
        // Coarse like the kernel's (16.8 ms), so that the stamp tells little about our clock.
        var stamp = TAI64N(
            seconds: now.wallClock.seconds, nanoseconds: now.wallClock.nanoseconds & ~0xff_ffff)
        isHoldingBack = false
        if let lastInstant, last > Self.plausible {
            let expected = last + (now.instant - lastInstant)
            if stamp > expected + Self.maximumAdvance {
                stamp = expected
                isHoldingBack = true
            }
        }
        if stamp <= last { stamp = last + TimeSpan(nanoseconds: 1) }
        last = stamp
        lastInstant = now.instant
        return stamp
    }
}
