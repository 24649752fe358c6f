/// How much an end takes of a snapshot; checked before anything is allocated for it.
public struct SnapshotLimits: Sendable, Hashable, BitwiseCopyable {
    /// Canonical bytes in all.
    public var byteCount: UInt32
    /// Routes, and as many exclusions.
    public var routeCount: UInt32

    /// Makes limits, at most ``hard``.
    public init(byteCount: UInt32, routeCount: UInt32) {
        self.byteCount = min(byteCount, 256 << 10)
        self.routeCount = min(routeCount, 16_384)
    }

    /// What a client takes unless its profile says otherwise: 64 KiB, 1,024 routes.
    public static let standard = SnapshotLimits(byteCount: 64 << 10, routeCount: 1024)
    /// What no end exceeds: 256 KiB, 16,384 routes.
    public static let hard = SnapshotLimits(byteCount: .max, routeCount: .max)

    static let addressCount = 8
    static let dnsServerCount = 8
    static let searchDomainCount = 32
    static let matchDomainCount = 256
    static let noticeByteCount = 512
    static let mtu: ClosedRange<UInt16> = 576...UInt16.max
    /// The items of one RESULT.
    static let findingCount = 32
}
