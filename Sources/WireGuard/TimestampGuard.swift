/// Gives every initiation a later time stamp than the one before, whatever the wall clock does.
///
/// A responder refuses stamps that are not later than the last one it saw, for ever. So a clock that goes back must not
/// go back on the wire, and one absurd jump ahead must not be signed: it would make the key useless until that date.
///
///     next(now)          the stamp for an initiation
///     takeUnstored()     before that is sent: what to store for the next start, once an hour
///     takeJump()         what to warn of
public struct TimestampGuard: Sendable, BitwiseCopyable {
    /// The last stamp that was given out.
    public private(set) var last: TAI64N
    /// Whether the wall clock is so far ahead that it is not believed.
    public private(set) var isHoldingBack: Bool = false
    /// The latest date that was believed; it goes on with CLOCK_BOOTTIME from `reading`.
    private var date: TAI64N
    private var reading: Moment?
    /// The stamp up to which the next start is safe, as it was last handed out to be stored.
    private var reserved: TAI64N
    private var jump: ClockJump?

    /// How far the wall clock may run ahead of elapsed time before a jump counts as absurd: a day.
    public static let maximumAdvance: TimeSpan = .seconds(86_400)
    /// How far it may be ahead of the stored stamp at the start, as a machine may be off for long: two years.
    public static let maximumAbsence: TimeSpan = .seconds(2 * 31_556_952)
    /// How much time what is stored covers, so that it is written once an hour and not for each handshake.
    static let reserve: TimeSpan = .seconds(3600)
    /// 2024-01-01: before that a clock was plainly never set, and any jump ahead is a repair.
    static let plausible = TAI64N(unixSeconds: 1_704_067_200, nanoseconds: 0)
    /// 2200-01-01: no clock that shows more is believed.
    static let farthest = TAI64N(unixSeconds: 7_258_118_400, nanoseconds: 0)

    /// Starts from a stamp that no earlier one exceeded, as `takeUnstored` gave it, or from `.zero`.
    ///
    /// A stamp that no clock could have given counts as none.
    public init(last stored: TAI64N) {
        let last = stored <= Self.farthest + Self.reserve ? stored : .zero
        self.last = last
        // What was stored is an hour ahead of the date at which it was.
        date = TAI64N(seconds: last.seconds - min(last.seconds, 3600), nanoseconds: 0)
        reserved = last
    }

    /// The stamp for an initiation sent now.
    public mutating func next(_ now: Moment) -> TAI64N {
        let believed = wallClock(at: now)
        // Coarse like the kernel's (16.8 ms), so that the stamp tells little about our clock.
        let stamp = TAI64N(seconds: believed.seconds, nanoseconds: believed.nanoseconds & ~0xff_ffff)
        last = stamp > last ? stamp : last + TimeSpan(nanoseconds: 1)
        return last
    }

    /// The wall clock, or the date that elapsed time gives while the wall clock is absurdly ahead of it.
    public mutating func wallClock(at now: Moment) -> TAI64N {
        let expected = reading.map { date + (now.instant - $0.instant) } ?? date
        let limit = expected + (reading == nil ? Self.maximumAbsence : Self.maximumAdvance)
        isHoldingBack = now.wallClock > Self.farthest || expected > Self.plausible && now.wallClock > limit
        noteJump(now)
        reading = now
        // A clock that went back may return: the date stays where it was.
        date = isHoldingBack ? max(expected, Self.plausible) : max(expected, now.wallClock)
        return isHoldingBack ? date : now.wallClock
    }

    /// Believes the wall clock after all: a peer that does not answer may have seen its time from us before.
    mutating func trustWallClock() {
        guard isHoldingBack, let reading, reading.wallClock <= Self.farthest else { return }
        date = reading.wallClock
        isHoldingBack = false
    }

    /// What has to be stored for the next start before the last stamp is sent; nil if what is stored covers it.
    public mutating func takeUnstored() -> TAI64N? {
        guard last > reserved else { return nil }
        // Not an hour from the last stamp: many starts within an hour would carry it ever further ahead.
        reserved = max(date + Self.reserve, last + .milliseconds(1))
        return reserved
    }

    /// The last jump of the wall clock that nobody was told of.
    public mutating func takeJump() -> ClockJump? {
        defer { jump = nil }
        return jump
    }

    private mutating func noteJump(_ now: Moment) {
        let expected: TAI64N
        if let reading {
            expected = reading.wallClock + (now.instant - reading.instant)
        } else if now.wallClock < date || isHoldingBack {
            // The machine was off: only a clock behind the stored date is wrong for certain.
            expected = date
        } else {
            return
        }
        let seconds = Int64(bitPattern: now.wallClock.seconds &- expected.seconds)
        if seconds.magnitude >= ClockJump.threshold { jump = ClockJump(seconds: seconds, isBelieved: !isHoldingBack) }
    }
}

/// A wall clock that showed another time than had passed.
public struct ClockJump: Sendable, Hashable, BitwiseCopyable {
    /// How far it went ahead, negative for back.
    public let seconds: Int64
    /// Whether initiations carry its time; they go on with elapsed time otherwise.
    public let isBelieved: Bool

    /// Jumps of fewer seconds are nobody's business.
    static let threshold: UInt64 = 60
}
