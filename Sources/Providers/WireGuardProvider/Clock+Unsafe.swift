import Glibc
import WireGuard

/// The system's clocks as the protocol takes them.
enum Clock {
    /// CLOCK_BOOTTIME: it also advances while the machine sleeps, so key ages stay true.
    static func now() -> Instant {
        let time = read(CLOCK_BOOTTIME)
        return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// Both clocks, for handshakes.
    static func moment() -> Moment {
        let wall = read(CLOCK_REALTIME)
        return Moment(
            instant: now(), wallClock: TAI64N(unixSeconds: Int64(wall.tv_sec), nanoseconds: UInt32(wall.tv_nsec)))
    }

    /// Sleeps for a while that is too short to be worth a timer.
    static func pause(nanoseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        unsafe nanosleep(&time, nil)
    }

    private static func read(_ clock: Int32) -> timespec {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time
    }
}

/// The kernel's random bytes.
struct SystemRandom: RandomSource {
    private var generator = SystemRandomNumberGenerator()

    mutating func nextKey() -> Key256 {
        Key256(words: SIMD4(generator.next(), generator.next(), generator.next(), generator.next()))
    }
}

extension RawSpan {
    /// The 64-bit little-endian word at `index`, bytes beyond the end read as zero.
    func littleEndianWord(_ index: Int) -> UInt64 {
        let start = index * 8
        guard start + 8 > byteCount else {
            // SAFETY: the guard proves that the word lies inside.
            return unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        var word: UInt64 = 0
        for offset in start..<byteCount {
            // SAFETY: `offset` is below `byteCount`.
            word |= UInt64(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)) << UInt64((offset - start) * 8)
        }
        return word
    }
}

extension HandshakeQueue.Message {
    /// Lends the message's bytes.
    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        var words = bytes
        // SAFETY: `count` is at most the size of the words, and the span does not outlive the call.
        return unsafe withUnsafeBytes(of: &words) { body(unsafe RawSpan(_unsafeBytes: $0).extracting(first: count)) }
    }
}
