import WireGuard

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
