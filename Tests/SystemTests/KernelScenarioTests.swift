import Foundation
import Testing

/// What the kernel's script tests beyond the userspace one, as far as it can be tested from outside.
@Suite("The scenarios of the kernel's script", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct KernelScenarioTests {
    @Test("A new private key is used at once", arguments: Scene.Programs.all)
    func newPrivateKey(programs: Scene.Programs) throws {
        try Scene.aroundLoopback(programs) { scene, _ in
            try scene.set(scene.first, "endpoint", "127.0.0.1:20000", "persistent-keepalive", "1")
            try scene.first.machine.pingOnce("192.168.241.2")
            let keys = try KeyPair()
            try Machine.host("wg", "set", scene.first.interface, "private-key", scene.lab.keyFile(keys.privateKey))
            try Machine.host(
                "wg", "set", scene.second.interface, "peer", scene.first.keys.publicKey, "remove", "peer",
                keys.publicKey,
                "preshared-key", scene.lab.keyFile(presharedKey(of: scene.first)), "allowed-ips",
                "192.168.241.1/32,fd00::1/128")
            // The initiation that the change has caused may have come before the new name was known.
            try eventually(seconds: 7, "the first ping") { try scene.first.machine.reaches("192.168.241.2") }
            try scene.second.machine.pingOnce("192.168.241.1")
        }
    }

    private func presharedKey(of end: Scene.End) throws -> String {
        let line = try Machine.host("wg", "show", end.interface, "preshared-keys")
        return line.split(separator: "\t").last.map { $0.trimmingCharacters(in: .newlines) } ?? ""
    }

    @Test("A thousand changes of settings during a transfer lose no packet")
    func changesUnderTraffic() throws {
        try Scene.aroundLoopback(Scene.Programs(first: .ours, second: .ours)) { scene, _ in
            try scene.set(scene.first, "endpoint", "127.0.0.1:20000")
            try scene.first.machine.pingOnce("192.168.241.2")
            let ping = try scene.lab.start(
                on: scene.first.machine, ["ping", "-i", "0.002", "-c", "4000", "-q", "192.168.241.2"])
            let peer = scene.second.keys.publicKey
            try scene.lab.left.shell(
                """
                for i in {1..250}; do
                wg set \(scene.first.interface) peer \(peer) persistent-keepalive $((i % 2 * 20))
                wg set \(scene.first.interface) peer \(peer) allowed-ips 192.168.241.2/32,fd00::2/128,10.$i.0.0/16
                wg set \(scene.second.interface) peer \(scene.first.keys.publicKey) persistent-keepalive $((i % 2 * 9))
                wg set \(scene.second.interface) peer $(wg genkey) allowed-ips 10.0.$i.0/24
                done
                """)
            #expect(try ping.waitForExit(seconds: 60) == 0)
            #expect(ping.output.contains("4000 received, 0% packet loss"), "\(ping.output)")
            #expect(try Machine.host("wg", "show", scene.second.interface, "peers").split(separator: "\n").count == 251)
        }
    }

    @Test("Nothing is sent to a public key of low order")
    func lowOrderKeys() throws {
        try Scene.aroundLoopback(Scene.Programs(first: .ours, second: .ours)) { scene, outside in
            let listener = try scene.lab.start(
                on: outside, ["bash", "-c", "timeout -s KILL 3 ncat -u -l 30000 | wc -c"])
            for hex in [
                String(repeating: "0", count: 64), "01" + String(repeating: "0", count: 62),
                "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            ] {
                let reply = try outside.shell(
                    """
                    printf 'set=1\\npublic_key=\(hex)\\nendpoint=127.0.0.1:30000\\npersistent_keepalive_interval=1\\n\\n' | \
                    timeout 5 ncat -U \(controlSocket(of: scene.first.interface))
                    """)
                #expect(reply == "errno=0\n\n")
            }
            #expect(try Machine.host("wg", "show", scene.first.interface, "peers").split(separator: "\n").count == 8)
            _ = try listener.waitForExit()
            #expect(listener.output.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
        }
    }

    @Test("A tunnel inside a tunnel, and fifty streams through it")
    func nested() throws {
        try Scene.aroundLoopback(Scene.Programs(first: .ours, second: .ours)) { scene, _ in
            try scene.set(scene.first, "endpoint", "127.0.0.1:20000")
            let (first, second) = (scene.first.machine, scene.second.machine)
            try first.pingOnce("192.168.241.2")
            let keys = try (KeyPair(), KeyPair())
            for (machine, own, peer, last) in [(first, keys.0, keys.1, 1), (second, keys.1, keys.0, 2)] {
                let interface = uniqueInterface()
                _ = try scene.lab.make(.ours, interface, on: machine)
                try machine("ip", "address", "add", "192.168.99.\(last)/24", "dev", interface)
                try machine(
                    "wg", "set", interface, "private-key", scene.lab.keyFile(own.privateKey), "listen-port", "7777",
                    "peer",
                    peer.publicKey, "allowed-ips", "192.168.99.\(3 - last)/32", "endpoint",
                    "192.168.241.\(3 - last):7777")
                try machine("ip", "link", "set", interface, "mtu", "1340", "up")
            }
            try first.pingOnce("192.168.99.2")
            try scene.transfer(from: scene.first, to: "192.168.99.2", at: scene.second, "-n", "20M", "-P", "50")
        }
    }

    @Test("Packets marked with the mark of the sockets leave by another table than those that go into the tunnel")
    func policyRouting() throws {
        try Lab.run { lab in
            let scene = try Scene(
                lab, Scene.Programs(first: .ours, second: .ours), birth: (lab.left, lab.right),
                homes: (lab.left, lab.right))
            let first = scene.first
            try scene.set(first, "allowed-ips", "0.0.0.0/0", "endpoint", "192.0.2.2:20000")
            try Machine.host("wg", "set", first.interface, "fwmark", "51820")
            try lab.left("ip", "route", "add", "default", "dev", first.interface, "table", "51820")
            try lab.left("ip", "rule", "add", "not", "fwmark", "51820", "table", "51820")
            try lab.left("ip", "rule", "add", "table", "main", "suppress_prefixlength", "0")
            try lab.right("ip", "address", "add", "198.51.100.1/32", "dev", "lo")
            try lab.left("ping", "-c", "100", "-f", "-W", "1", "192.168.241.2")
            try lab.left("ping", "-c", "100", "-f", "-W", "1", "198.51.100.1")
        }
    }
}
