import WireGuard

/// Prefixes as sets of addresses.
extension IPPrefix {
    /// Whether the other prefix lies in this one, or is the same.
    func covers(_ other: IPPrefix) -> Bool { other.length >= length && contains(other.address) }

    /// Whether some address lies in both: of two prefixes that share one, the longer lies in the shorter.
    func overlaps(_ other: IPPrefix) -> Bool { covers(other) || other.covers(self) }

    /// The addresses that lie in both.
    func intersection(_ other: IPPrefix) -> IPPrefix? { covers(other) ? other : other.covers(self) ? self : nil }

    var isIPv4: Bool { address.bitWidth == 32 }

    /// The first address, aligned to the top bit.
    private var start: UInt128 {
        switch address {
        case .v4(let value): UInt128(value) << 96
        case .v6(let value): value
        }
    }

    /// The part of a family that prefixes of it make up together, in units of 2^-127 of the family.
    static func share(of prefixes: [IPPrefix]) -> UInt128 {
        var sum: UInt128 = 0
        var last: IPPrefix?
        // In this order whatever lies in a prefix comes right behind it.
        for prefix in prefixes.sorted(by: { ($0.start, $0.length) < ($1.start, $1.length) }) {
            if let last, last.covers(prefix) { continue }
            // A single IPv6 address is less than the unit and counts for nothing.
            sum += (UInt128(1) << 127) >> UInt128(prefix.length)
            last = prefix
        }
        return sum
    }

    /// Whether prefixes of one family amount to a default route: more than half of the family.
    ///
    /// Of IPv6 only an eighth is in use (2000::/3): more than half of that is as good as all.
    static func amountToDefault(_ prefixes: [IPPrefix]) -> Bool {
        if share(of: prefixes) > 1 << 126 { return true }
        guard let unicast = IPPrefix(.v6(0x2 << 124), length: 3) else { return false }
        return share(of: prefixes.compactMap { $0.intersection(unicast) }) > 1 << 123
    }
}
