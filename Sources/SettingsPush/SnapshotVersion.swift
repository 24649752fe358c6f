import WireGuard

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

/// A snapshot as a gateway offers it: canonical bytes and the version that names them.
public struct PublishedSnapshot: Sendable, Hashable {
    /// The name.
    public let version: SnapshotVersion
    /// The canonical bytes, as ``Snapshot/canonicalBytes`` gives them.
    public let bytes: [UInt8]

    /// Publishes canonical bytes under a serial; computes their digest.
    ///
    /// - Parameters:
    ///   - bytes: ``Snapshot/canonicalBytes``, for instance from a registry's table.
    ///   - epoch: The registry's random number.
    ///   - serial: At least 1.
    public init(bytes: [UInt8], epoch: UInt128, serial: UInt64) {
        self.bytes = bytes
        version = SnapshotVersion(epoch: epoch, serial: serial, digest: Self.digest(of: bytes))
    }

    /// BLAKE2s-128 of bytes, as a big-endian number.
    static func digest(of bytes: [UInt8]) -> UInt128 {
        Key256(blake2sOf: bytes, size: 16).bytes[..<16].reduce(0) { $0 << 8 | UInt128($1) }
    }
}
