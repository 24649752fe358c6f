public import ProviderKit
import WireGuard

extension RegistryContents {
    /// Gives a peer an address of each family that the pools have and it has not; what it has held before comes first.
    ///
    /// - Parameters:
    ///   - name: The peer.
    ///   - now: Seconds since 1970.
    ///   - random: Where further addresses are tried.
    /// - Throws: ``RegistryErrorCode/poolExhausted``.
    public mutating func allocate(
        for name: String, now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        for bitWidth in [32, 128] where pools.contains(where: { $0.prefix.address.bitWidth == bitWidth }) {
            try allocate(for: name, bitWidth: bitWidth, now: now, random: &random)
        }
    }

    /// Gives a peer the address that the operator chose, for as long as the peer is there.
    ///
    /// - Throws: ``RegistryErrorCode/addressOutsidePools`` or ``RegistryErrorCode/addressTaken``.
    mutating func assign(_ address: IPAddress, to name: String) throws(RegistryError) {
        guard let pool = pools.first(where: { $0.mayLease(address) }) else {
            throw RegistryError(.addressOutsidePools, cause: "\(address) is no address for a peer in any of the pools.")
        }
        if let lease = leases[address], lease.peer != name {
            throw RegistryError(.addressTaken, cause: "\(address) belongs to `\(lease.peer)`.")
        }
        leases.put(Lease(address: address, peer: name, pool: pool.prefix, isFixed: true))
    }

    /// Notes that a peer was heard: its leases last for the lease time from now.
    ///
    /// - Parameters:
    ///   - name: The peer.
    ///   - now: Seconds since 1970.
    ///   - random: Where further addresses are tried, if the peer's own were given to others.
    /// - Throws: ``RegistryErrorCode/poolExhausted``.
    public mutating func renew(
        _ name: String, now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        try allocate(for: name, now: now, random: &random)
        let expiry = gateway.leaseSeconds == 0 ? nil : now + Int64(gateway.leaseSeconds)
        for lease in leases.leases(of: name) where lease.isHeld && !lease.isFixed {
            leases.update(lease.address, expiry: expiry, releasedAt: nil)
        }
    }

    /// Takes a peer's leases back; it gets the same addresses again as long as nobody else needs them.
    public mutating func release(_ name: String, now: Int64) {
        for lease in leases.leases(of: name) where lease.isHeld && lease.expiry != nil {
            leases.update(lease.address, expiry: nil, releasedAt: now)
        }
    }

    /// Lets every running lease begin anew: nobody could be heard while the gateway was down.
    public mutating func extendLeases(now: Int64) {
        guard gateway.leaseSeconds != 0 else { return }
        let running = leases.byAddress.values.filter { $0.isHeld && $0.expiry != nil }
        for lease in running {
            leases.update(lease.address, expiry: now + Int64(gateway.leaseSeconds), releasedAt: nil)
        }
    }

    /// Takes back every lease that has ended.
    ///
    /// - Returns: The peers that lost one.
    public mutating func expireLeases(now: Int64) -> [String] {
        let ended = leases.byAddress.values.filter { $0.isHeld && $0.expiry.map { $0 <= now } == true }
        for lease in ended { leases.update(lease.address, expiry: nil, releasedAt: now) }
        return Set(ended.map(\.peer)).sorted()
    }

    /// Gives a peer an address of one family, unless it holds one.
    mutating func allocate(
        for name: String, bitWidth: Int, now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        let own = leases.leases(of: name).filter { $0.address.bitWidth == bitWidth }
        if own.contains(where: \.isHeld) { return }
        if let former = own.first {
            return leases.update(former.address, expiry: nil, releasedAt: nil)
        }
        guard let key = peers[name]?.publicKey else { return }
        let open = pools.filter { $0.prefix.address.bitWidth == bitWidth && !$0.isDraining }
        for pool in open {
            guard let address = leases.freeAddress(in: pool, key: key, random: &random) else { continue }
            return leases.put(Lease(address: address, peer: name, pool: pool.prefix, isFixed: false))
        }
        let rest = 2 * Int64(gateway.leaseSeconds)
        for pool in open {
            guard let address = leases.restedAddress(in: pool, releasedBy: now - rest) else { continue }
            return leases.put(Lease(address: address, peer: name, pool: pool.prefix, isFixed: false))
        }
        throw RegistryError(
            .poolExhausted, cause: "No pool has a free \(bitWidth == 32 ? "IPv4" : "IPv6") address for `\(name)`.")
    }
}
