import WireGuard

/// The search for addresses that may be leased.
extension LeaseTable {
    /// How many random addresses are tried before the pool is gone through in order.
    private static let probes = 16

    /// An address that nobody has or had, nil if there is none.
    ///
    /// The key decides where the search begins: a peer that is removed and added again gets its address back.
    func freeAddress(
        in pool: AddressPool, key: PublicKey, random: inout some RandomNumberGenerator
    ) -> IPAddress? {
        let offsets = pool.offsets
        // The low word of a public key is uniform enough: the key is a coordinate of a point.
        let preferred = pool.address(at: offsets.lowerBound + UInt128(key.key.words[0]) % UInt128(offsets.count))
        if isFree(preferred) { return preferred }
        for _ in 0..<Self.probes {
            let candidate = pool.address(at: UInt128.random(in: offsets, using: &random))
            if isFree(candidate) { return candidate }
        }
        // Among as many addresses as there are leases and one more, one is free.
        let end = min(offsets.upperBound, offsets.lowerBound + UInt128(byAddress.count) + 1)
        var offset = offsets.lowerBound
        while offset < end {
            let candidate = pool.address(at: offset)
            if isFree(candidate) { return candidate }
            offset += 1
        }
        return nil
    }

    /// The address that was given back first and has rested since `limit`, in seconds since 1970; nil if there is none.
    func restedAddress(in pool: AddressPool, releasedBy limit: Int64) -> IPAddress? {
        var oldest: Lease?
        for lease in byAddress.values where lease.pool == pool.prefix {
            guard let releasedAt = lease.releasedAt, releasedAt <= limit else { continue }
            if let known = oldest?.releasedAt, known <= releasedAt { continue }
            oldest = lease
        }
        return oldest?.address
    }

    private func isFree(_ address: IPAddress) -> Bool { byAddress[address] == nil }
}
