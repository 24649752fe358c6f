/// Collects the blocks of one snapshot; nothing is allocated before the announced size is within the limits.
struct Reassembly: Sendable {
    let version: SnapshotVersion
    let blockSize: BlockSize
    let byteCount: UInt32
    private var bytes: [UInt8]
    private var isThere: [Bool]
    private var missing: Int

    /// Prepares for a snapshot of `byteCount` bytes; nil for one that is empty or larger than the limits.
    init?(_ version: SnapshotVersion, byteCount: UInt32, blockSize: BlockSize, limits: SnapshotLimits) {
        guard byteCount > 0, byteCount <= limits.byteCount else { return nil }
        self.version = version
        self.blockSize = blockSize
        self.byteCount = byteCount
        let size = Int(blockSize.rawValue)
        missing = (Int(byteCount) + size - 1) / size
        bytes = Array(repeating: 0, count: Int(byteCount))
        isThere = Array(repeating: false, count: missing)
    }

    /// The first run of blocks that are missing, nil when none is.
    var request: GetRequest? {
        guard let first = isThere.firstIndex(of: false) else { return nil }
        let run = isThere[first...].prefix(GetRequest.maximumCount).prefix { !$0 }
        return GetRequest(
            version: version, blockSize: blockSize, first: UInt16(first), count: UInt16(run.count))
    }

    /// Takes a block in.
    ///
    /// - Returns: Whether it was a missing one: a block of another snapshot, size or place changes nothing.
    mutating func add(_ block: Block) -> Bool {
        let start = Int(block.index) * Int(blockSize.rawValue)
        guard block.version == version, block.byteCount == byteCount, block.count == isThere.count,
            !isThere[Int(block.index)], block.bytes.count == min(Int(blockSize.rawValue), Int(byteCount) - start)
        else { return false }
        bytes.replaceSubrange(start..<start + block.bytes.count, with: block.bytes)
        isThere[Int(block.index)] = true
        missing -= 1
        return true
    }

    /// All bytes once none is missing; their digest is not checked yet.
    var snapshot: [UInt8]? { missing == 0 ? bytes : nil }
}
