import Foundation
import Testing

/// The socket of a session of `run`, and the verbs that read sockets.
@Suite("Views of running tunnels", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct ViewTests {
    @Test("A session of run has the same socket")
    func session() throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let pair = try TunnelPair()
            let file = try lab.write("tunnel.conf", pair.leftFile)
            let child = try lab.start(
                on: lab.left,
                [
                    Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file,
                    "--interface", interface,
                ])
            try child.waitFor("connected \(interface)")
            let shown = try lab.left("wg", "showconf", interface)
            #expect(shown.contains("ListenPort = 51820") && shown.contains(pair.left.privateKey))
            try lab.left("wg", "set", interface, "listen-port", "40005")
            #expect(try !lab.left("ss", "-Huln", "sport = :40005").isEmpty)
            child.signal(SIGTERM)
            #expect(try child.waitForExit() == 0)
            #expect(!FileManager.default.fileExists(atPath: controlSocket(of: interface)))
        }
    }

    @Test("show and metrics tell what wg tells, and no secret")
    func views() throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            _ = try lab.make(.ours, interface, on: lab.left)
            let keys = try (KeyPair(), KeyPair())
            try lab.left(
                "wg", "set", interface, "private-key", lab.keyFile(keys.0.privateKey), "listen-port", "40006", "peer",
                keys.1.publicKey, "preshared-key", lab.keyFile(keys.1.privateKey), "allowed-ips", "10.0.0.0/8",
                "endpoint",
                "192.0.2.2:7", "persistent-keepalive", "25")
            let shown = try lab.left(Lab.providerhost, "show", interface)
            let expected = try lab.left("wg", "show", interface).split(separator: "\n").filter {
                !$0.contains("private key")
            }
            #expect(shown.split(separator: "\n").elementsEqual(expected), "\(shown)")
            let json = try lab.left(Lab.providerhost, "show", "--json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let entry = try #require(object[interface] as? [String: Any])
            #expect(object["schema"] as? Int == 1 && entry["publicKey"] as? String == keys.0.publicKey)
            let file = lab.folder.appendingPathComponent("tunnels.prom").path
            try lab.left(Lab.providerhost, "metrics", "--write", file)
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            #expect(
                metrics.contains(
                    "wireguard_sent_bytes_total{interface=\"\(interface)\",public_key=\"\(keys.1.publicKey)\""))
            #expect(metrics.contains("{interface=\"\(interface)\",reason=\"bad_first_mac\"} 0\n"))
            for text in [shown, json, metrics] {
                #expect(!text.contains(keys.0.privateKey) && !text.contains(keys.1.privateKey))
            }
            #expect(try lab.left.attempt(Lab.providerhost, "show", "no-such-one").status == 10)
        }
    }
}
