internal import SQLite
import SettingsPush
import WireGuard

/// Contents into tables: only the rows that are new, other or gone.
extension Database {
    /// Makes the tables hold `contents`, inside a transaction.
    ///
    /// - Parameters:
    ///   - contents: What shall stand in the tables.
    ///   - former: What stands in them; nil for nothing.
    /// - Throws: ``SQLiteError``.
    func write(_ contents: RegistryContents, replacing former: RegistryContents? = nil) throws {
        // A row may go before the one that refers to it: what counts is the end of the transaction.
        try execute("PRAGMA defer_foreign_keys = ON")
        try write(.gateway, [1: contents.gateway], former.map { [1: $0.gateway] }) { (id: Int64) in
            [.integer(id)]
        } columns: {
            $0.columns
        }
        try write(.pools, contents.poolRows, former?.poolRows) {
            [.text("\($0)")]
        } columns: {
            [.integer(Int64($0.position)), .boolean($0.isDraining)]
        }
        try write(.peers, contents.peers, former?.peers) {
            [.text($0)]
        } columns: {
            $0.columns
        }
        try write(.siteSubnets, contents.siteSubnetRows, former?.siteSubnetRows) {
            [.text("\($0)")]
        } columns: {
            [.text($0)]
        }
        try write(.leases, contents.leases.byAddress, former?.leases.byAddress) {
            [.text("\($0)")]
        } columns: {
            $0.columns
        }
        try write(.routes, contents.routeRows, former?.routeRows) {
            $0.scope.columns + [.text($0.kind.rawValue), .text("\($0.prefix)")]
        } columns: { (_: Bool) in
            []
        }
        try write(.profiles, contents.profileRows, former?.profileRows) {
            $0.columns
        } columns: {
            [.blob($0)]
        }
        try write(.versions, contents.versions, former?.versions) {
            [.text($0)]
        } columns: {
            [.integer(Int64(bitPattern: $0.serial)), .blob($0.digest.bigEndianBytes)]
        }
    }

    private func write<Key: Hashable, Value: Equatable>(
        _ table: RegistryTable, _ rows: [Key: Value], _ former: [Key: Value]?, key: (Key) -> [SQLiteValue],
        columns: (Value) -> [SQLiteValue]
    ) throws {
        let former = former ?? [:]
        var delete = try prepare(table.delete)
        for gone in former.keys where rows[gone] == nil {
            try delete.bind(key(gone))
            while try delete.step() {}
        }
        var upsert = try prepare(table.upsert)
        for (name, row) in rows where former[name] != row {
            try upsert.bind(key(name) + columns(row))
            while try upsert.step() {}
        }
    }
}

extension RegistryContents {
    struct PoolRow: Equatable {
        let position: Int
        let isDraining: Bool
    }

    struct RouteKey: Hashable {
        let scope: PushScope
        let kind: RouteKind
        let prefix: IPPrefix
    }

    fileprivate var poolRows: [IPPrefix: PoolRow] {
        var rows: [IPPrefix: PoolRow] = [:]
        for (position, pool) in pools.enumerated() {
            rows[pool.prefix] = PoolRow(position: position, isDraining: pool.isDraining)
        }
        return rows
    }

    fileprivate var siteSubnetRows: [IPPrefix: String] {
        var rows: [IPPrefix: String] = [:]
        for peer in peers.values {
            for subnet in peer.siteSubnets { rows[subnet] = peer.name }
        }
        return rows
    }

    fileprivate var routeRows: [RouteKey: Bool] {
        var rows: [RouteKey: Bool] = [:]
        for (scope, profile) in profiles {
            for kind in RouteKind.allCases {
                for prefix in profile[kind] { rows[RouteKey(scope: scope, kind: kind, prefix: prefix)] = true }
            }
        }
        return rows
    }

    fileprivate var profileRows: [PushScope: [UInt8]] {
        profiles.compactMapValues { profile in
            let bytes = profile.settingsBytes
            return bytes.isEmpty ? nil : bytes
        }
    }
}

extension Gateway {
    fileprivate var columns: [SQLiteValue] {
        [
            .blob(privateKey.key.bytes), .integer(Int64(listenPort)), .text("\(endpoint)"), .integer(Int64(mtu)),
            .boolean(masquerades), .integer(Int64(leaseSeconds)), .blob(epoch.bigEndianBytes),
        ]
    }
}

extension GatewayPeer {
    fileprivate var columns: [SQLiteValue] {
        [
            .blob(publicKey.key.bytes), .optional(presharedKey?.key.bytes), .optional(group), .text(state.rawValue),
        ]
    }
}

extension Lease {
    fileprivate var columns: [SQLiteValue] {
        [.text(peer), .text("\(pool)"), .boolean(isFixed), .optional(expiry), .optional(releasedAt)]
    }
}

extension PushScope {
    fileprivate var columns: [SQLiteValue] {
        switch self {
        case .gateway: ["gateway", ""]
        case .group(let name): ["group", .text(name)]
        case .peer(let name): ["peer", .text(name)]
        }
    }
}

extension UInt128 {
    /// The 16 bytes, the most significant first.
    var bigEndianBytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: self >> UInt128(120 - 8 * $0)) } }

    /// The number of exactly 16 bytes, nil for any other count.
    init?(bigEndianBytes bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }
}
