/// How long what a snapshot grants is granted, on the client's boot clock.
public struct LeaseDuration: Sendable, Hashable, BitwiseCopyable {
    /// Seconds, 0 for ever, else at least 60 and at most a year.
    public let seconds: UInt32

    /// Makes a duration; 1 to 59 seconds become 60, and more than a year becomes a year.
    public init(seconds: UInt32) { self.seconds = seconds == 0 ? 0 : min(max(seconds, 60), 366 * 86_400) }

    /// An hour.
    public static let standard = LeaseDuration(seconds: 3600)
    /// No end.
    public static let permanent = LeaseDuration(seconds: 0)
}
