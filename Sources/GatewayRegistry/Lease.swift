public import WireGuard

/// An address that belongs to a peer.
public struct Lease: Sendable, Equatable {
    /// The address.
    public let address: IPAddress
    /// The name of the peer.
    public let peer: String
    /// The pool that the address is from.
    public let pool: IPPrefix
    /// Whether the operator chose it: it never ends.
    public let isFixed: Bool
    /// When it ends without contact, in seconds since 1970; nil if it does not, or the peer was never heard.
    public internal(set) var expiry: Int64?
    /// When the peer gave it back or it expired, in seconds since 1970; nil while it is held.
    public internal(set) var releasedAt: Int64?

    /// Whether the peer holds the address now.
    public var isHeld: Bool { releasedAt == nil }
}

/// The leases by address and by peer.
public struct LeaseTable: Sendable, Equatable {
    /// Every lease, also those that were released and rest.
    public private(set) var byAddress: [IPAddress: Lease] = [:]
    private var addresses: [String: [IPAddress]] = [:]

    /// The lease of an address.
    public subscript(address: IPAddress) -> Lease? { byAddress[address] }

    /// The leases of a peer, IPv4 first.
    public func leases(of peer: String) -> [Lease] {
        (addresses[peer] ?? []).compactMap { byAddress[$0] }
    }

    /// Adds or replaces a lease; the address is then the peer's.
    mutating func put(_ lease: Lease) {
        remove(lease.address)
        let address = lease.address
        byAddress[address] = lease
        addresses[lease.peer, default: []].append(address)
        addresses[lease.peer]?.sort { left, right in left.isIPv4 && !right.isIPv4 }
    }

    /// Forgets the lease of an address.
    mutating func remove(_ address: IPAddress) {
        guard let lease = byAddress.removeValue(forKey: address) else { return }
        addresses[lease.peer]?.removeAll { $0 == address }
        if addresses[lease.peer]?.isEmpty == true { addresses[lease.peer] = nil }
    }

    /// Changes when a lease ends.
    mutating func update(_ address: IPAddress, expiry: Int64?, releasedAt: Int64?) {
        byAddress[address]?.expiry = expiry
        byAddress[address]?.releasedAt = releasedAt
    }
}
