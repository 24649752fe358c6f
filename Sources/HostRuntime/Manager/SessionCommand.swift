internal import ProviderKit

/// What other threads ask of a session.
enum SessionCommand: Sendable {
    case stop(ProviderStopReason)
    case message([UInt8], reply: (@Sendable (Result<[UInt8]?, TunnelFailure>) -> Void)?)
    case sleep(allow: @Sendable () -> Void)
    case wake
}

/// Carries commands to the thread of a session.
typealias SessionInbox = Inbox<SessionCommand>
