/// The opening of a conversation.
public struct Hello: Sendable, Hashable {
    /// Random, drawn once per start of the client; the answer repeats it.
    public var nonce: UInt64
    /// The sections that the client understands.
    public var capabilities: Capabilities
    /// How much the client takes.
    public var limits: SnapshotLimits
    /// What it has applied, or ``SnapshotVersion/none``.
    public var holding: SnapshotVersion
    /// The families that the client can use.
    public var families: AddressFamilies

    /// Makes an opening.
    public init(
        nonce: UInt64, capabilities: Capabilities, limits: SnapshotLimits, holding: SnapshotVersion,
        families: AddressFamilies
    ) {
        self.nonce = nonce
        self.capabilities = capabilities
        self.limits = limits
        self.holding = holding
        self.families = families
    }
}
