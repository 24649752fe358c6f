/// Asks for a run of blocks of one snapshot.
public struct GetRequest: Sendable, Hashable {
    /// The snapshot, as the gateway named it.
    public var version: SnapshotVersion
    /// Bytes of each block but the last: ``BlockSize/standard`` or ``BlockSize/small``.
    public var blockSize: BlockSize
    /// The first block, from 0.
    public var first: UInt16
    /// How many blocks, 1 to 64.
    public var count: UInt16

    /// Makes a request.
    public init(version: SnapshotVersion, blockSize: BlockSize, first: UInt16, count: UInt16) {
        self.version = version
        self.blockSize = blockSize
        self.first = first
        self.count = count
    }

    /// The blocks that one request may ask for: what a peer's queue holds.
    static let maximumCount = 64
}
