import ProviderKit
public import WireGuard

/// A network whose addresses are leased to peers; its first host address is the gateway's.
public struct AddressPool: Sendable, Equatable {
    /// The network: IPv4 up to /30, IPv6 up to /126.
    public let prefix: IPPrefix
    /// Whether it gives no further addresses to peers that have none yet.
    public var isDraining: Bool = false

    /// Checks that the network has room for the gateway and a peer.
    ///
    /// - Throws: ``RegistryErrorCode/invalidPrefix``.
    init(_ prefix: IPPrefix) throws(RegistryError) {
        let longest = prefix.address.bitWidth - 2
        guard prefix.length >= 1, prefix.length <= longest else {
            throw RegistryError(
                .invalidPrefix, cause: "The pool \(prefix) has no room for a gateway and its peers.",
                remedy: "Give a network of /1 to /\(longest), such as 10.7.0.0/24.")
        }
        try prefix.requireRoutable()
        self.prefix = prefix
    }

    /// The gateway's own address in the network.
    public var gatewayAddress: IPAddress { address(at: 1) }

    /// The offsets that are leased: not the network (for IPv6 the routers' anycast address), the gateway or the broadcast.
    var offsets: Range<UInt128> {
        let bits = prefix.address.bitWidth - prefix.length
        // No more than 2^48 are ever used: enough for any gateway, and the numbers stay small.
        return prefix.address.isIPv4 ? 2..<(1 << bits) - 1 : 2..<1 << min(bits, 48)
    }

    /// The address at an offset from the network's own.
    func address(at offset: UInt128) -> IPAddress {
        switch prefix.address {
        case .v4(let network): .v4(network + UInt32(truncatingIfNeeded: offset))
        case .v6(let network): .v6(network + offset)
        }
    }

    /// Whether an address may be leased to a peer.
    func mayLease(_ address: IPAddress) -> Bool {
        guard prefix.contains(address) else { return false }
        return switch (prefix.address, address) {
        case (.v4(let network), .v4(let value)): offsets.contains(UInt128(value - network))
        case (.v6(let network), .v6(let value)): offsets.contains(value - network)
        default: false
        }
    }
}
