/// Names one snapshot: the registry that made it, its number there, and the digest of its canonical bytes.
public struct SnapshotVersion: Sendable, Hashable, BitwiseCopyable {
    /// Sixteen random bytes, drawn when the registry was made.
    public var epoch: UInt128
    /// Counts up by at least one with every change of what a peer is offered; never 0 for a snapshot that exists.
    public var serial: UInt64
    /// BLAKE2s-128 of the canonical bytes.
    public var digest: UInt128

    /// Makes a name from its parts.
    public init(epoch: UInt128, serial: UInt64, digest: UInt128) {
        self.epoch = epoch
        self.serial = serial
        self.digest = digest
    }

    /// What a client without any snapshot says that it holds.
    public static let none = SnapshotVersion(epoch: 0, serial: 0, digest: 0)
}
