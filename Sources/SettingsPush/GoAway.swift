/// A client is to leave this gateway.
public struct GoAway: Sendable, Hashable {
    /// What the client does next.
    public enum Action: UInt8, Sendable, Hashable {
        /// Makes a new session with this gateway after the delay.
        case reconnect = 0
        /// Uses another gateway of its profile.
        case useAnother = 1
        /// Stops.
        case stop = 2
    }

    /// What the client does next.
    public var action: Action
    /// How long it waits before that.
    public var delaySeconds: UInt32

    /// Makes the order.
    public init(action: Action, delaySeconds: UInt32) {
        self.action = action
        self.delaySeconds = delaySeconds
    }
}
