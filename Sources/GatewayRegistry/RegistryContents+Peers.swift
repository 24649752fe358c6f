public import ProviderKit
public import WireGuard

extension RegistryContents {
    /// Adds a peer and gives it an address of each family.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - addresses: Addresses that the operator chose, at most one of each family.
    ///   - now: Seconds since 1970.
    ///   - random: Where further addresses are tried.
    /// - Throws: ``RegistryError`` that names the value at fault; nothing is changed then.
    public mutating func addPeer(
        _ peer: GatewayPeer, addresses: [IPAddress] = [], now: Int64, random: inout some RandomNumberGenerator
    ) throws(RegistryError) {
        try check(peer)
        if Set(addresses.map(\.bitWidth)).count < addresses.count {
            throw RegistryError(
                .invalidValue, cause: "A peer has one address of a family.",
                remedy: "Choose at most one IPv4 and one IPv6 address.")
        }
        put(peer)
        do {
            for address in addresses { try assign(address, to: peer.name) }
            try allocate(for: peer.name, now: now, random: &random)
            try checkRouteCount(of: peer.name)
        } catch {
            try removePeer(peer.name)
            throw error
        }
    }

    /// Removes a peer with its addresses and all that is pushed to it alone.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer``.
    public mutating func removePeer(_ name: String) throws(RegistryError) {
        names[try peer(name).publicKey] = nil
        for lease in leases.leases(of: name) { leases.remove(lease.address) }
        peers[name] = nil
        profiles[.peer(name)] = nil
        versions[name] = nil
    }

    /// Sets whether a peer is served.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer``.
    public mutating func setState(_ state: GatewayPeer.State, of name: String) throws(RegistryError) {
        _ = try peer(name)
        peers[name]?.state = state
    }

    /// Adds a peer that is known to be valid.
    mutating func put(_ peer: GatewayPeer) {
        peers[peer.name] = peer
        names[peer.publicKey] = peer.name
    }

    private func check(_ peer: GatewayPeer) throws(RegistryError) {
        try RegistryName.check(peer.name, of: "peer")
        if let group = peer.group { try RegistryName.check(group, of: "group") }
        guard peers.count < Self.maximumPeers else {
            throw RegistryError(.tooMany, cause: "A gateway has at most \(Self.maximumPeers) peers.")
        }
        guard peers[peer.name] == nil else {
            throw RegistryError(.duplicateName, cause: "There is a peer `\(peer.name)` already.")
        }
        guard !peer.publicKey.key.isZero else {
            throw RegistryError(.invalidValue, cause: "A key of zeros is no key.", remedy: "Make one: `wg genkey`.")
        }
        guard peer.publicKey != gateway.publicKey else {
            throw RegistryError(.duplicateKey, cause: "That public key is the gateway's own.")
        }
        if let other = names[peer.publicKey] {
            throw RegistryError(.duplicateKey, cause: "`\(other)` has that public key.")
        }
        try checkSiteSubnets(peer.siteSubnets)
    }

    private func checkSiteSubnets(_ subnets: [IPPrefix]) throws(RegistryError) {
        guard subnets.count <= Self.maximumSiteSubnets else {
            throw RegistryError(.tooMany, cause: "A peer has at most \(Self.maximumSiteSubnets) site subnets.")
        }
        for (index, subnet) in subnets.enumerated() {
            guard subnet.length > 0 else {
                throw RegistryError(
                    .invalidPrefix, cause: "\(subnet) cannot lie behind one peer.",
                    remedy: "Name the networks of the site.")
            }
            try subnet.requireRoutable()
            try requireDisjoint(subnet)
            if let other = subnets[..<index].first(where: { $0.overlaps(subnet) }) {
                throw RegistryError(.overlap, cause: "\(subnet) overlaps \(other).")
            }
        }
    }
}
