public import ProviderKit
public import WireGuard

extension RegistryContents {
    /// Adds a pool; peers that have no address of its family get one of it, as far as it goes.
    ///
    /// - Parameters:
    ///   - prefix: The pool.
    ///   - now: Seconds since 1970.
    ///   - random: Where further addresses are tried.
    /// - Throws: ``RegistryErrorCode/invalidPrefix``, ``RegistryErrorCode/overlap`` or ``RegistryErrorCode/tooMany``.
    public mutating func addPool(
        _ prefix: IPPrefix, now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        try addPool(prefix)
        for peer in sortedPeers {
            do throws(RegistryError) {
                try allocate(for: peer.name, bitWidth: prefix.address.bitWidth, now: now, random: &random)
            } catch {
                // The pool is used up: who has no address now gets one when it asks and there is one.
                return
            }
        }
    }

    /// Adds a pool while there are no peers that want an address of it.
    mutating func addPool(_ prefix: IPPrefix) throws(RegistryError) {
        let pool = try AddressPool(prefix)
        guard pools.count < Self.maximumPools else {
            throw RegistryError(.tooMany, cause: "A gateway has at most \(Self.maximumPools) pools.")
        }
        try requireDisjoint(prefix)
        pools.append(pool)
    }

    /// Removes a pool.
    ///
    /// - Parameters:
    ///   - prefix: The pool.
    ///   - reassigning: Whether the peers that have addresses of it get addresses of other pools.
    ///   - now: Seconds since 1970.
    ///   - random: Where further addresses are tried.
    /// - Throws: ``RegistryErrorCode/unknownPool``, ``RegistryErrorCode/poolInUse`` or ``RegistryErrorCode/poolExhausted``.
    public mutating func removePool(
        _ prefix: IPPrefix, reassigning: Bool, now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        guard let index = pools.firstIndex(where: { $0.prefix == prefix }) else { throw Self.unknownPool(prefix) }
        let affected = leases.byAddress.values.filter { $0.pool == prefix }
        let holders = affected.filter(\.isHeld).map(\.peer).sorted()
        guard holders.isEmpty || reassigning else {
            throw RegistryError(
                .poolInUse, cause: "Of the pool \(prefix), \(holders.count) peers have addresses.")
        }
        for lease in affected { leases.remove(lease.address) }
        pools.remove(at: index)
        for holder in holders {
            try allocate(for: holder, bitWidth: prefix.address.bitWidth, now: now, random: &random)
        }
    }

    /// Sets whether a pool gives addresses to peers that have none yet.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPool``.
    public mutating func setDraining(_ isDraining: Bool, pool prefix: IPPrefix) throws(RegistryError) {
        guard let index = pools.firstIndex(where: { $0.prefix == prefix }) else { throw Self.unknownPool(prefix) }
        pools[index].isDraining = isDraining
    }

    /// Refuses a network that overlaps a pool or a site subnet.
    func requireDisjoint(_ prefix: IPPrefix) throws(RegistryError) {
        if let pool = pools.first(where: { $0.prefix.overlaps(prefix) }) {
            throw RegistryError(.overlap, cause: "\(prefix) overlaps the pool \(pool.prefix).")
        }
        for peer in peers.values {
            guard let subnet = peer.siteSubnets.first(where: { $0.overlaps(prefix) }) else { continue }
            throw RegistryError(.overlap, cause: "\(prefix) overlaps \(subnet), a site subnet of `\(peer.name)`.")
        }
    }

    private static func unknownPool(_ prefix: IPPrefix) -> RegistryError {
        RegistryError(.unknownPool, cause: "There is no pool \(prefix).")
    }
}
