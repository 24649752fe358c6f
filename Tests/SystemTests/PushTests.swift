import Foundation
import Testing

/// Tunnels whose settings a gateway may push, against peers that push none.
@Suite("Pushed settings", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct PushTests {
    /// The right end's file with a line of policy.
    private func file(_ pair: TunnelPair, _ line: String) -> String {
        pair.rightFile.replacing("[Interface]", with: "[Interface]\n# \(line)", maxReplacements: 1)
    }

    @Test("pushPreferred with wireguard-go: up with the profile's settings, and nothing to complain about")
    func plainPeer() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let begin = Date()
            let ours = try lab.startTunnel(on: lab.right, file(pair, "settings = pushPreferred"))
            #expect(Date().timeIntervalSince(begin) < 5)
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            #expect(!ours.output.lowercased().contains("warning") && !ours.output.lowercased().contains("error"))
        }
    }

    @Test("pushRequired with wireguard-go: the start fails and says that no gateway answered")
    func gatewayMissing() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let path = try lab.write("required.conf", file(pair, "settings = pushRequired"))
            let before = try lab.right.networkState()
            let child = try lab.start(
                on: lab.right,
                [Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", path])
            #expect(try child.waitForExit(seconds: 25) != 0)
            #expect(child.output.contains("No gateway answered at 192.0.2.1:51820"), "\(child.output)")
            #expect(try lab.right.networkState() == before)
        }
    }
}
