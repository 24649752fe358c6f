import WireGuard

extension ClientMachine {
    /// The life of the tunnel.
    enum Life { case idle, starting, started, stopping, ended }

    /// The conversation.
    enum Talk: Sendable {
        /// For a session.
        case waiting
        /// A HELLO is out.
        case probing(Retransmission)
        /// Blocks are asked for.
        case fetching(Fetch)
        /// There is nothing to say.
        case settled
        /// Not before an instant, and then at a timer's or only at the next session's beginning.
        case resting(until: Instant, needsSession: Bool)
        /// RELEASE is out; sent once more at `again`.
        case releasing(transaction: UInt32, again: Instant?, end: Instant)
    }

    /// A snapshot on its way.
    struct Fetch: Sendable {
        var assembly: Reassembly
        var exchange: Retransmission
        /// Blocks that the last GET asked for and that are not here yet.
        var outstanding: Int
        /// Whether a block came since the last GET.
        var progressed = false
        /// GETs in a row that no block answered.
        var losses = 0
    }

    /// A change of the settings, and why it is made.
    struct Change: Sendable {
        enum Reason: Sendable, Equatable {
            case settings
            /// Back to what was confirmed; the result says so.
            case revert(SnapshotVersion)
            /// The lease ended.
            case withdrawal
        }

        let desired: DesiredSettings
        let reason: Reason

        init(_ desired: DesiredSettings, _ reason: Reason) {
            self.desired = desired
            self.reason = reason
        }
    }

    /// A RESULT that is repeated until it is acknowledged.
    struct Report: Sendable {
        let result: SettingsResult
        var exchange: Retransmission
        /// When the settings are taken back without an acknowledgement.
        let deadline: Instant
    }

    /// How long the settings are granted.
    struct Lease: Sendable {
        enum Stage: Comparable { case fresh, renewing, urgent }
        let renewal: Instant
        let urgency: Instant
        let end: Instant
        var stage = Stage.fresh
    }
}
