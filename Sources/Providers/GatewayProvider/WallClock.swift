import Glibc

/// The time of day, which leases and results are dated by.
enum WallClock {
    /// Seconds since 1970.
    static var seconds: Int64 { Int64(time(nil)) }
}
