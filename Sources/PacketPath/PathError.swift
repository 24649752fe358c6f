internal import CTun

/// Why a device, socket, slab or cipher could not be set up.
public struct PathError: Error, Sendable, CustomStringConvertible {
    /// What could not be done and why, in one sentence without a full stop.
    public let message: String
    /// What to do about it.
    public let advice: String
    /// The positive errno of the failed call, or 0 when no call failed.
    public let errno: Int32

    /// An error with the negative errno that a call of CTun gave, or 0.
    init(_ message: String, code: Int32 = 0, advice: String) {
        let cause = code < 0 ? ": \(System.text(-code))" : ""
        self.message = message + cause
        self.advice = advice
        errno = -code
    }

    public var description: String { "\(message); \(advice)" }
}
