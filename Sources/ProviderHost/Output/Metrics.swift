/// Tunnels as Prometheus reads them, in its text form, with the names of MindFlavor's exporter for WireGuard.
struct Metrics {
    private let views: [TunnelView]

    /// Describes tunnels.
    init(_ views: [TunnelView]) { self.views = views }

    /// The text.
    var text: String {
        [
            perPeer("wireguard_sent_bytes_total", "counter", "Bytes sent to the peer") { "\($0.sentBytes)" },
            perPeer("wireguard_received_bytes_total", "counter", "Bytes received from the peer") {
                "\($0.receivedBytes)"
            },
            perPeer("wireguard_latest_handshake_seconds", "gauge", "UNIX timestamp of the last handshake") {
                "\($0.latestHandshake)"
            },
            family("providerhost_dropped_packets_total", "counter", "Packets that were dropped, by reason", drops),
        ].joined()
    }

    private typealias Sample = (labels: [(String, String)], value: String)

    private var drops: [Sample] {
        var samples: [Sample] = []
        for view in views {
            for (reason, count) in view.drops.sorted(by: { $0.key < $1.key }) {
                samples.append(([("interface", view.interface), ("reason", reason)], "\(count)"))
            }
        }
        return samples
    }

    private func perPeer(
        _ name: String, _ type: String, _ help: String, _ value: (TunnelView.Peer) -> String
    ) -> String {
        var samples: [Sample] = []
        for view in views {
            for peer in view.peers { samples.append((labels(view, peer), value(peer))) }
        }
        return family(name, type, help, samples)
    }

    private func labels(_ view: TunnelView, _ peer: TunnelView.Peer) -> [(String, String)] {
        [
            ("interface", view.interface), ("public_key", peer.publicKey),
            ("allowed_ips", peer.allowedIPs.joined(separator: ",")),
        ]
    }

    private func family(_ name: String, _ type: String, _ help: String, _ samples: [Sample]) -> String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples {
            // The values are names of interfaces, base64, addresses and our own words: nothing in them is to be escaped.
            let labels = sample.labels.map { $0.0 + "=\"" + $0.1 + "\"" }
            text += "\(name){\(labels.joined(separator: ","))} \(sample.value)\n"
        }
        return text
    }
}
