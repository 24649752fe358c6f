import ProviderKit
internal import SQLite
import SettingsPush
import WireGuard

/// Tables into contents. What the program wrote is read; what somebody else put there and is no valid value is an error.
extension Database {
    /// Reads everything, inside or outside of a transaction.
    ///
    /// - Throws: ``RegistryError`` or ``SQLiteError``.
    func readContents() throws -> RegistryContents {
        guard let gateway = try firstRow(RegistryTable.gateway.select, read: { try Gateway(row: $0) }) else {
            throw RegistryError(.notInitialized)
        }
        var contents = RegistryContents(stored: gateway)
        contents.pools = try rows(RegistryTable.pools.select + " ORDER BY position") { row in
            let prefix = try row.prefix(0)
            var pool = try AddressPool(prefix)
            pool.isDraining = row.boolean(2)
            return pool
        }
        var subnets: [String: [IPPrefix]] = [:]
        try each(.siteSubnets) { row in subnets[row.text(1), default: []].append(try row.prefix(0)) }
        try each(.peers) { row in contents.put(try GatewayPeer(row: row, siteSubnets: subnets[row.text(0)] ?? [])) }
        try each(.leases) { row in contents.leases.put(try Lease(row: row)) }
        try each(.profiles) { row in
            let settings = try? Snapshot(canonicalBytes: row.bytes(2), limits: .hard)
            guard let settings else { throw row.damage("profiles") }
            let scope = try row.scope()
            contents.profiles[scope, default: PushProfile()].dns = settings.dns
            contents.profiles[scope, default: PushProfile()].mtu = settings.mtu.map { Int($0) }
        }
        try each(.routes) { row in
            guard let kind = RouteKind(rawValue: row.text(2)) else { throw row.damage("routes") }
            let prefix = try row.prefix(3)
            let scope = try row.scope()
            contents.profiles[scope, default: PushProfile()][kind].insert(prefix)
        }
        try each(.versions) { row in
            guard let digest = UInt128(bigEndianBytes: row.bytes(2)) else { throw row.damage("versions") }
            contents.versions[row.text(0)] = PushVersion(serial: UInt64(bitPattern: row.integer(1)), digest: digest)
        }
        return contents
    }

    private func each(_ table: RegistryTable, _ read: (borrowing Statement) throws -> Void) throws {
        var statement = try prepare(table.select)
        while try statement.step() { try read(statement) }
    }
}

extension Gateway {
    fileprivate init(row: borrowing Statement) throws(RegistryError) {
        guard let key = Key256(bytes: row.bytes(1)), let port = UInt16(exactly: row.integer(2)),
            let endpoint = Configuration.PeerEndpoint(row.text(3)), let lease = UInt32(exactly: row.integer(6)),
            let epoch = UInt128(bigEndianBytes: row.bytes(7))
        else { throw row.damage("gateway") }
        self.init(privateKey: PrivateKey(key), listenPort: port, endpoint: endpoint, epoch: epoch)
        mtu = Int(row.integer(4))
        masquerades = row.boolean(5)
        leaseSeconds = lease
        try RegistryContents.checkMTU(mtu)
    }
}

extension GatewayPeer {
    fileprivate init(row: borrowing Statement, siteSubnets: [IPPrefix]) throws(RegistryError) {
        guard let key = Key256(bytes: row.bytes(1)), let state = State(rawValue: row.text(4)) else {
            throw row.damage("peers")
        }
        let preshared = row.optionalBytes(2).flatMap { Key256(bytes: $0) }
        self.init(
            name: row.text(0), publicKey: PublicKey(key), presharedKey: preshared.map { PresharedKey($0) },
            group: row.optionalText(3), siteSubnets: siteSubnets)
        self.state = state
    }
}

extension Lease {
    fileprivate init(row: borrowing Statement) throws(RegistryError) {
        guard let address = IPAddress(row.text(0)) else { throw row.damage("leases") }
        let pool = try row.prefix(2)
        self.init(
            address: address, peer: row.text(1), pool: pool, isFixed: row.boolean(3), expiry: row.optionalInteger(4),
            releasedAt: row.optionalInteger(5))
    }
}

extension PushProfile {
    /// DNS and MTU as sections of a snapshot, empty without both.
    var settingsBytes: [UInt8] {
        let settings = try? Snapshot(
            addresses: [], routes: [], excludes: [], dns: dns, mtu: mtu.map { UInt16($0) }, notice: nil)
        return settings?.canonicalBytes ?? []
    }
}

extension Statement {
    /// The network in a column.
    fileprivate func prefix(_ column: Int) throws(RegistryError) -> IPPrefix {
        guard let prefix = IPPrefix(text(column)) else { throw damage("a network") }
        return prefix
    }

    /// The scope in the first two columns.
    fileprivate func scope() throws(RegistryError) -> PushScope {
        switch text(0) {
        case "gateway": return .gateway
        case "group": return .group(text(1))
        case "peer": return .peer(text(1))
        default: throw damage("a scope")
        }
    }

    /// The error of a row that this program did not write.
    fileprivate func damage(_ what: String) -> RegistryError {
        RegistryError(
            .unusableFile, cause: "The registry holds a row that is not valid: \(what).",
            remedy: "Restore the file from a copy.")
    }
}
