/// The two families that a tunnel carries, with the kernel's numbers (AF_INET, AF_INET6).
public enum AddressFamily: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case ipv4 = 2
    case ipv6 = 10

    /// Bits in an address: 32 or 128.
    public var bitWidth: Int { self == .ipv4 ? 32 : 128 }

    /// Bytes in an address: 4 or 16.
    public var byteCount: Int { bitWidth / 8 }

    /// The name a person reads: `IPv4` or `IPv6`.
    public var description: String { self == .ipv4 ? "IPv4" : "IPv6" }
}

/// An IPv4 or IPv6 address without a zone.
public struct IPAddress: Hashable, Sendable {
    /// The family that says how many of the leading bits count.
    public let family: AddressFamily

    /// The address in network order from the top bit down; an IPv4 address fills the upper 32 bits, the rest is zero.
    ///
    /// One alignment for both families makes masks, order and prefix tests the same code.
    public let bits: UInt128

    /// An address from its left-aligned bits; bits beyond the family's width are dropped.
    public init(family: AddressFamily, bits: UInt128) {
        self.family = family
        self.bits = bits & IPPrefix.mask(length: family.bitWidth)
    }

    /// An IPv4 address from its 32-bit value in host order.
    public init(ipv4 value: UInt32) {
        self.init(family: .ipv4, bits: UInt128(value) << 96)
    }

    /// An address from its bytes in network order, or nil unless there are exactly 4 or 16, as the family needs.
    public init?(family: AddressFamily, bytes: some Collection<UInt8>) {
        guard bytes.count == family.byteCount else { return nil }
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self.init(family: family, bits: value << UInt128(128 - family.bitWidth))
    }

    /// The address in network order: 4 or 16 bytes.
    public var bytes: [UInt8] {
        (0..<family.byteCount).map { UInt8(truncatingIfNeeded: bits >> UInt128(120 - 8 * $0)) }
    }

    /// The all-zero address of a family.
    public static func unspecified(_ family: AddressFamily) -> IPAddress {
        IPAddress(family: family, bits: 0)
    }
}

extension IPAddress: Comparable {
    /// IPv4 sorts before IPv6, then by value.
    public static func < (left: IPAddress, right: IPAddress) -> Bool {
        left.family == right.family ? left.bits < right.bits : left.family == .ipv4
    }
}
