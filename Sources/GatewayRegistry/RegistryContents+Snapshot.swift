public import ProviderKit
public import SettingsPush
public import WireGuard

/// What is pushed: a pure function of the contents.
extension RegistryContents {
    /// Everything that a peer shall have of the network.
    ///
    /// The pools that the peer has an address of are routes of it: the gateway and the other peers are reached there. A route to
    /// the peer's own site is left out, because it would turn the site's own traffic away.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer`` or ``RegistryErrorCode/tooMany``.
    public func snapshot(of name: String) throws(RegistryError) -> Snapshot {
        let peer = try peer(name)
        let leases = leases.leases(of: name).filter(\.isHeld)
        let profiles = scopes(of: peer).compactMap { self.profiles[$0] }
        let offered = profiles.reduce(into: Set(leases.map(\.pool))) { $0.formUnion($1.routes) }
        let routes = offered.filter { route in !peer.siteSubnets.contains { $0.covers(route) } }
        let excludes = profiles.reduce(into: Set<IPPrefix>()) { $0.formUnion($1.excludedRoutes) }
        do {
            return try Snapshot(
                addresses: leases.compactMap { AssignedAddress($0.address, prefixLength: $0.address.bitWidth) },
                routes: Array(routes), excludes: Array(excludes), dns: profiles.lazy.compactMap(\.dns).first,
                mtu: UInt16(profiles.lazy.compactMap(\.mtu).first ?? gateway.mtu), notice: nil)
        } catch {
            throw RegistryError(
                .tooMany,
                cause: "What is pushed to `\(name)` is no snapshot: section \(error.section), item \(error.index).")
        }
    }

    /// The networks that are accepted from a peer: its addresses and the networks behind it.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer``.
    public func allowedIPs(of name: String) throws(RegistryError) -> [IPPrefix] {
        let peer = try peer(name)
        guard peer.state != .disabled else { return [] }
        return leases.leases(of: name).filter(\.isHeld).compactMap(\.address.hostPrefix) + peer.siteSubnets
    }

    /// The snapshot of a peer under its serial, ready to be offered.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer`` or ``RegistryErrorCode/tooMany``.
    public func publishedSnapshot(of name: String) throws(RegistryError) -> PublishedSnapshot {
        let bytes = try snapshot(of: name).canonicalBytes
        return PublishedSnapshot(bytes: bytes, epoch: gateway.epoch, serial: versions[name]?.serial ?? 1)
    }

    /// Gives every peer whose snapshot is another one the next serial.
    ///
    /// - Parameter former: The contents that the serials are right for; nil to look at every peer.
    /// - Throws: ``RegistryErrorCode/tooMany``.
    mutating func refreshVersions(since former: RegistryContents? = nil) throws(RegistryError) {
        for name in peers.keys.sorted() {
            if let former, versions[name] != nil, inputs(of: name) == former.inputs(of: name) { continue }
            let digest = try publishedSnapshot(of: name).version.digest
            guard let version = versions[name] else {
                versions[name] = PushVersion(serial: 1, digest: digest)
                continue
            }
            if version.digest != digest {
                versions[name] = PushVersion(serial: version.serial + 1, digest: digest)
            }
        }
    }

    /// Offers the peers of a scope their settings anew, under the next serial, though they are the same.
    ///
    /// - Returns: The number of the peers.
    /// - Throws: ``RegistryErrorCode/unknownPeer`` or ``RegistryErrorCode/invalidName``.
    public mutating func forcePush(to scope: PushScope) throws(RegistryError) -> Int {
        try check(scope)
        let names = names(in: scope)
        for name in names { versions[name]?.serial += 1 }
        return names.count
    }

    /// All that a snapshot is made of.
    private func inputs(of name: String) -> SnapshotInputs? {
        guard let peer = peers[name] else { return nil }
        return SnapshotInputs(
            addresses: leases.leases(of: name).filter(\.isHeld).map(\.address), siteSubnets: peer.siteSubnets,
            profiles: scopes(of: peer).map { profiles[$0] }, mtu: gateway.mtu)
    }
}

/// All that a snapshot is made of: equal inputs give equal snapshots.
private struct SnapshotInputs: Equatable {
    let addresses: [IPAddress]
    let siteSubnets: [IPPrefix]
    let profiles: [PushProfile?]
    let mtu: Int
}
