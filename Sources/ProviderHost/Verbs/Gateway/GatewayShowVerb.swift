internal import GatewayRegistry
internal import WireGuard

/// `gateway show`: the gateway's own values.
enum GatewayShowVerb {
    static let command = Command(
        name: "gateway show", summary: "Show the gateway's public key, endpoint and numbers.", options: [.json]
    ) { arguments, console in
        let contents = try GatewayVerbs.registry().contents()
        let report = GatewayReport(contents)
        if arguments.wantsJSON {
            console.print(json: report)
            return .success
        }
        console.print(
            """
            public key   \(report.publicKey)
            endpoint     \(report.endpoint)
            listen port  \(report.listenPort)
            pools        \(report.pools.joined(separator: ", "))
            MTU          \(report.mtu)
            lease        \(report.leaseSeconds == 0 ? "for ever" : "\(report.leaseSeconds) s")
            masquerade   \(report.masquerade ? "yes" : "no")
            peers        \(report.peerCount)
            """)
        return .success
    }
}

/// The object of `gateway show --json`.
private struct GatewayReport: Encodable {
    let schema: Int
    let publicKey: String
    let endpoint: String
    let listenPort: UInt16
    let pools: [String]
    let mtu: Int
    let leaseSeconds: UInt32
    let masquerade: Bool
    let peerCount: Int

    init(_ contents: RegistryContents) {
        schema = Report.schema
        publicKey = contents.gateway.publicKey.base64
        endpoint = contents.gateway.endpoint.description
        listenPort = contents.gateway.listenPort
        pools = contents.pools.map { "\($0.prefix)" }
        mtu = contents.gateway.mtu
        leaseSeconds = contents.gateway.leaseSeconds
        masquerade = contents.gateway.masquerades
        peerCount = contents.peers.count
    }
}
