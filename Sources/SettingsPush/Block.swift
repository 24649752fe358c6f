/// One block of a snapshot.
public struct Block: Sendable, Hashable {
    /// The snapshot.
    public var version: SnapshotVersion
    /// The block's number, from 0.
    public var index: UInt16
    /// The number of blocks of the snapshot.
    public var count: UInt16
    /// The number of bytes of the snapshot.
    public var byteCount: UInt32
    /// The block's bytes.
    public var bytes: [UInt8]

    /// Makes a block.
    public init(version: SnapshotVersion, index: UInt16, count: UInt16, byteCount: UInt32, bytes: [UInt8]) {
        self.version = version
        self.index = index
        self.count = count
        self.byteCount = byteCount
        self.bytes = bytes
    }
}
