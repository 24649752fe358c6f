internal import GatewayRegistry
internal import SettingsPush
internal import WireGuard

/// A peer in a listing.
struct PeerReport: Encodable {
    let name: String
    let publicKey: String
    let group: Nullable<String>
    let state: String
    let addresses: [String]
    let siteSubnets: [String]
    let serial: UInt64

    init(_ peer: GatewayPeer, _ contents: RegistryContents) {
        name = peer.name
        publicKey = peer.publicKey.base64
        group = Nullable(peer.group)
        state = peer.state.rawValue
        addresses = contents.leases.leases(of: peer.name).filter(\.isHeld).map { "\($0.address)" }
        siteSubnets = peer.siteSubnets.map { "\($0)" }
        serial = contents.versions[peer.name]?.serial ?? 0
    }

    /// The peer in one line.
    var line: String {
        let parts = [
            name, addresses.isEmpty ? "no address" : addresses.joined(separator: ", "),
            siteSubnets.isEmpty ? nil : "site \(siteSubnets.joined(separator: ", "))",
            group.value.map { "group \($0)" }, state == GatewayPeer.State.enabled.rawValue ? nil : state,
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}

/// The object of `gateway peer list --json`.
struct PeerListing: Encodable {
    let schema = Report.schema
    let peers: [PeerReport]

    private enum CodingKeys: String, CodingKey { case schema, peers }
}

/// The object of `gateway peer show --json`.
struct PeerDetails: Encodable {
    /// Resolvers as they are pushed.
    struct DNS: Encodable {
        let mode: String
        let servers: [String]
        let searchDomains: [String]
        let matchDomains: [String]

        init(_ offer: DNSOffer) {
            mode = "\(offer.mode)"
            servers = offer.servers.map { "\($0)" }
            searchDomains = offer.searchDomains.map { "\($0)" }
            matchDomains = offer.matchDomains.map { "\($0)" }
        }

        var text: String {
            let search = searchDomains.isEmpty ? "" : ", search \(searchDomains.joined(separator: ", "))"
            let match = matchDomains.isEmpty ? "" : ", for \(matchDomains.joined(separator: ", "))"
            return "\(mode): \(servers.joined(separator: ", "))\(match)\(search)"
        }
    }

    let schema = Report.schema
    let peer: PeerReport
    let allowedIPs: [String]
    let routes: [String]
    let excludedRoutes: [String]
    let dns: Nullable<DNS>
    let mtu: Nullable<UInt16>
    let result: Nullable<ResultReport>

    init(_ peer: GatewayPeer, _ contents: RegistryContents, _ result: ReportedResult?) throws(RegistryError) {
        let snapshot = try contents.snapshot(of: peer.name)
        self.peer = PeerReport(peer, contents)
        allowedIPs = try contents.allowedIPs(of: peer.name).map { "\($0)" }
        routes = snapshot.routes.map { "\($0)" }
        excludedRoutes = snapshot.excludes.map { "\($0)" }
        dns = Nullable(snapshot.dns.map(DNS.init))
        mtu = Nullable(snapshot.mtu)
        self.result = Nullable(result.map { ResultReport($0, contents) })
    }

    private enum CodingKeys: String, CodingKey {
        case schema, peer, allowedIPs, routes, excludedRoutes, dns, mtu, result
    }

    /// The details for people.
    var text: String {
        var lines = [
            ("peer", peer.line), ("public key", peer.publicKey), ("serial", "\(peer.serial)"),
            ("accepted", allowedIPs.joined(separator: ", ")), ("routes", routes.joined(separator: ", ")),
        ]
        if !excludedRoutes.isEmpty { lines.append(("outside", excludedRoutes.joined(separator: ", "))) }
        if let dns = dns.value { lines.append(("DNS", dns.text)) }
        if let mtu = mtu.value { lines.append(("MTU", "\(mtu)")) }
        lines.append(("result", result.value?.text ?? "none yet"))
        return lines.map { key, value in
            key + String(repeating: " ", count: 12 - key.count) + (value.isEmpty ? "none" : value)
        }.joined(separator: "\n")
    }
}
