/// Tunnels in JSON: the keys of wg-json for each interface, beside a `schema`, and without any secret.
struct ShowJSON: Encodable {
    private let views: [TunnelView]

    /// Describes tunnels.
    init(_ views: [TunnelView]) { self.views = views }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        try container.encode(Report.schema, forKey: Name("schema"))
        // No interface has the name of the field: it would be six letters all the same.
        for view in views where view.interface != "schema" {
            try container.encode(Interface(view), forKey: Name(view.interface))
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    private struct Interface: Encodable {
        let publicKey: String?
        let listenPort: Int?
        let fwmark: UInt32?
        let droppedPackets: [String: UInt64]
        let peers: [String: Peer]

        init(_ view: TunnelView) {
            publicKey = view.publicKey
            listenPort = view.listenPort == 0 ? nil : view.listenPort
            fwmark = view.firewallMark == 0 ? nil : view.firewallMark
            droppedPackets = view.drops
            peers = Dictionary(view.peers.map { ($0.publicKey, Peer($0)) }) { $1 }
        }
    }

    private struct Peer: Encodable {
        let endpoint: String?
        let latestHandshake: Int64?
        let transferRx: UInt64?
        let transferTx: UInt64?
        let persistentKeepalive: Int?
        let allowedIps: [String]

        init(_ peer: TunnelView.Peer) {
            endpoint = peer.endpoint
            latestHandshake = peer.latestHandshake == 0 ? nil : peer.latestHandshake
            transferRx = peer.receivedBytes == 0 ? nil : peer.receivedBytes
            transferTx = peer.sentBytes == 0 ? nil : peer.sentBytes
            persistentKeepalive = peer.keepaliveInterval == 0 ? nil : peer.keepaliveInterval
            allowedIps = peer.allowedIPs
        }
    }
}
