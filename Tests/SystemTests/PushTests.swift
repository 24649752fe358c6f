import Foundation
import Testing

/// Tunnels whose settings a gateway may push, against peers that push none.
@Suite("Pushed settings", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct PushTests {
    @Test("pushPreferred with wireguard-go: up with the profile's settings, and nothing to complain about")
    func plainPeer() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let begin = Date()
            let ours = try lab.startTunnel(on: lab.right, pair.rightFile(with: "# settings = pushPreferred"))
            #expect(Date().timeIntervalSince(begin) < 5)
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            // Tests beside this one have interfaces of the same name, and one folder for control sockets.
            let complaints = ours.output.lowercased().split(separator: "\n").filter {
                ($0.contains("warning") || $0.contains("error")) && !$0.contains("control socket")
            }
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    @Test("pushRequired with wireguard-go: the start fails and says that no gateway answered")
    func gatewayMissing() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let path = try lab.write("required.conf", pair.rightFile(with: "# settings = pushRequired"))
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
