public import WireGuard

/// Everything that a gateway wants one peer to have of the network: a whole desired state, never an edit.
///
/// A value of this type is in canonical form and within the hard limits; making one from anything else throws a
/// ``SettingsFinding`` that names section, item and reason. There is no section for scripts, environment, keys, the kill
/// switch, local networks or updates, and there will be none.
public struct Snapshot: Sendable, Hashable {
    /// The peer's addresses inside the tunnel, at most 8.
    public let addresses: [AssignedAddress]
    /// What the peer may send into the tunnel.
    public let routes: [IPPrefix]
    /// What stays outside even where a route covers it.
    public let excludes: [IPPrefix]
    /// Resolvers and names; nil to leave the peer's own as they are.
    public let dns: DNSOffer?
    /// The MTU inside the tunnel, 576 to 65535; nil for the peer's choice.
    public let mtu: UInt16?
    /// A sentence for the person at the peer, which is shown and nothing else; 1 to 512 bytes.
    public let notice: String?

    /// Checks and sorts what a registry has for a peer.
    ///
    /// - Throws: The first item that no snapshot may hold.
    public init(
        addresses: [AssignedAddress], routes: [IPPrefix], excludes: [IPPrefix], dns: DNSOffer?, mtu: UInt16?,
        notice: String?
    ) throws(SettingsFinding) {
        self.addresses = addresses.sorted { $0.precedes($1) }
        self.routes = routes.sorted { $0.precedes($1) }
        self.excludes = excludes.sorted { $0.precedes($1) }
        self.dns = dns
        self.mtu = mtu
        self.notice = notice
        try Self.checkCounts(addresses: addresses.count, routes: routes.count, excludes: excludes.count, limits: .hard)
        try Self.checkMTU(mtu)
        try Self.checkNotice(notice)
        // Reading back finds what sorting shows: a duplicate, or more bytes than a snapshot may have.
        _ = try Snapshot(canonicalBytes: canonicalBytes, limits: .hard)
    }

    /// A snapshot whose parts the decoder has checked.
    init(checked parts: Parts) {
        addresses = parts.addresses
        routes = parts.routes
        excludes = parts.excludes
        dns = parts.dns
        mtu = parts.mtu
        notice = parts.notice
    }

    /// What has been decoded so far.
    struct Parts {
        var addresses: [AssignedAddress] = []
        var routes: [IPPrefix] = []
        var excludes: [IPPrefix] = []
        var dns: DNSOffer?
        var mtu: UInt16?
        var notice: String?
    }
}

/// The checks that building and decoding share.
extension Snapshot {
    static func checkCounts(
        addresses: Int, routes: Int, excludes: Int, limits: SnapshotLimits
    ) throws(SettingsFinding) {
        guard addresses <= SnapshotLimits.addressCount else {
            throw SettingsFinding(.tooManyItems).at(.addresses, SnapshotLimits.addressCount)
        }
        guard routes <= limits.routeCount else {
            throw SettingsFinding(.tooManyItems).at(.routes, Int(limits.routeCount))
        }
        guard excludes <= limits.routeCount else {
            throw SettingsFinding(.tooManyItems).at(.excludes, Int(limits.routeCount))
        }
    }

    static func checkMTU(_ mtu: UInt16?) throws(SettingsFinding) {
        guard let mtu else { return }
        guard SnapshotLimits.mtu.contains(mtu) else { throw SettingsFinding(.badMTU).at(.link, 0) }
    }

    static func checkNotice(_ notice: String?) throws(SettingsFinding) {
        guard let notice else { return }
        guard notice.utf8.count <= SnapshotLimits.noticeByteCount else {
            throw SettingsFinding(.oversized).at(.notice, 0)
        }
        guard !notice.isEmpty else { throw SettingsFinding(.nonCanonical).at(.notice, 0) }
        guard notice.unicodeScalars.allSatisfy(Self.isShown) else { throw SettingsFinding(.badText).at(.notice, 0) }
    }

    /// Whether a scalar only shows itself: no control, no line or paragraph end, nothing that turns the direction of text.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .privateUse, .unassigned, .surrogate: false
        default: true
        }
    }
}
