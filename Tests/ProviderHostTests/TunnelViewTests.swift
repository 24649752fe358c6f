import Foundation
import Testing

@testable import ProviderHost

@Suite("show and metrics")
struct TunnelViewTests {
    private static let reply = """
        own_public_key=\(String(repeating: "00", count: 32))
        listen_port=51820
        fwmark=51820
        dropped_packets=no_route 3
        dropped_packets=malformed 0
        later_version=1
        public_key=\(String(repeating: "ff", count: 32))
        has_preshared_key=true
        protocol_version=1
        endpoint=[2001:db8::1]:7
        last_handshake_time_sec=940
        last_handshake_time_nsec=5
        tx_bytes=1056
        rx_bytes=3145728
        persistent_keepalive_interval=25
        allowed_ip=10.0.0.0/8
        allowed_ip=fd00::/8
        public_key=\(String(repeating: "01", count: 32))
        last_handshake_time_sec=0
        tx_bytes=0
        rx_bytes=0
        persistent_keepalive_interval=0
        errno=0


        """
    private static let own = String(repeating: "A", count: 43) + "="
    private static let first = String(repeating: "/", count: 42) + "8="
    private static let second = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

    private func parsed(_ change: (String) -> String = { $0 }) -> TunnelView? {
        TunnelView(interface: "wg0", reply: Array(change(Self.reply).utf8))
    }

    @Test("The text is that of wg show")
    func text() throws {
        let view = try #require(parsed())
        #expect(
            ShowText(view, hasColour: false, now: 1003).text == """
                interface: wg0
                  public key: \(Self.own)
                  listening port: 51820
                  fwmark: 0xca6c
                  dropped packets: 3 no_route

                peer: \(Self.first)
                  preshared key: (hidden)
                  endpoint: [2001:db8::1]:7
                  allowed ips: 10.0.0.0/8, fd00::/8
                  latest handshake: 1 minute, 3 seconds ago
                  transfer: 3.00 MiB received, 1.03 KiB sent
                  persistent keepalive: every 25 seconds

                peer: \(Self.second)
                  allowed ips: (none)

                """)
        let painted = ShowText(view, hasColour: true, now: 1003).text
        #expect(painted.hasPrefix("\u{1B}[32m\u{1B}[1minterface\u{1B}[0m: \u{1B}[32mwg0\u{1B}[0m\n"))
    }

    @Test(
        "Amounts",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1_048_575, "1023.99 KiB"),
            (1_048_576, "1.00 MiB"), (5_000_000_000, "4.65 GiB"), (UInt64.max, "16777215.99 TiB"),
        ] as [(UInt64, String)])
    func amounts(bytes: UInt64, text: String) { #expect(ShowText.size(bytes) == text) }

    @Test("JSON has a schema and wg-json's keys, and leaves out what is not there")
    func json() throws {
        let view = try #require(parsed())
        let data = try JSONEncoder().encode(ShowJSON([view]))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["schema"] as? Int == 1)
        let interface = try #require(object["wg0"] as? [String: Any])
        #expect(Set(interface.keys) == ["publicKey", "listenPort", "fwmark", "peers", "droppedPackets"])
        let peers = try #require(interface["peers"] as? [String: [String: Any]])
        let first = try #require(peers[Self.first])
        #expect(first["transferRx"] as? Int == 3_145_728 && first["latestHandshake"] as? Int == 940)
        #expect(first["allowedIps"] as? [String] == ["10.0.0.0/8", "fd00::/8"])
        #expect(peers[Self.second].map { Set($0.keys) } == ["allowedIps"])
    }

    @Test("Metrics have the names of the exporter that dashboards know")
    func metrics() throws {
        let view = try #require(parsed())
        let text = Metrics([view]).text
        let labels = "{interface=\"wg0\",public_key=\"\(Self.first)\",allowed_ips=\"10.0.0.0/8,fd00::/8\"}"
        for line in [
            "wireguard_sent_bytes_total\(labels) 1056", "wireguard_received_bytes_total\(labels) 3145728",
            "wireguard_latest_handshake_seconds\(labels) 940",
            "providerhost_dropped_packets_total{interface=\"wg0\",reason=\"no_route\"} 3",
            "# TYPE providerhost_dropped_packets_total counter",
        ] { #expect(text.contains(line + "\n"), "\(text)") }
    }

    @Test("Replies that are not to be believed")
    func bad() {
        #expect(parsed { $0.replacingOccurrences(of: "errno=0", with: "errno=22") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "errno=0\n", with: "") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "errno=0", with: "errno=0\nx=1") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "rx_bytes=0", with: "rx_bytes=-1") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "listen_port=", with: "listen_port") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "endpoint=[", with: "endpoint=\u{1B}[") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "endpoint=[", with: "endpoint=\"[") } == nil)
        #expect(parsed { $0.replacingOccurrences(of: "public_key=ff", with: "public_key=+f") } == nil)
    }

    @Test("A file is replaced as a whole")
    func writes() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for text in ["long text\n", "short\n"] {
            try MetricsVerb.write(text, to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        #expect(throws: TunnelsError.self) { try MetricsVerb.write("x", to: path + "/under") }
    }

    @Test("Colours as wg decides")
    func colours() {
        #expect(ShowVerb.hasColour([:], isTerminal: true) && !ShowVerb.hasColour([:], isTerminal: false))
        #expect(ShowVerb.hasColour(["WG_COLOR_MODE": "always", "NO_COLOR": "1"], isTerminal: false))
        #expect(!ShowVerb.hasColour(["WG_COLOR_MODE": "never"], isTerminal: true))
        #expect(!ShowVerb.hasColour(["NO_COLOR": "1"], isTerminal: true))
    }
}
