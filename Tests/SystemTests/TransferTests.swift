import Foundation
import Testing

/// What goes in at one end comes out at the other, byte for byte, both ends ours.
@Suite("Transfers, both ends ours", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct TransferTests {
    @Test("Byte for byte both ways at once, IPv4 and IPv6, beside UDP")
    func mixed() throws {
        try Lab.run { lab in
            let ends = try lab.startBoth(TunnelPair())
            try lab.startServer(on: lab.right)
            let bytes = TestSize.transfer
            let transfers = [
                try lab.startTransfer(from: lab.left, to: lab.right, "10.7.0.2", port: 7001, bytes: bytes),
                try lab.startTransfer(from: lab.right, to: lab.left, "fd07::1", port: 7002, bytes: bytes),
            ]
            let datagrams = try lab.sendDatagrams(length: 700, megabitsPerSecond: 20, seconds: 2)
            for transfer in transfers { try transfer.finish(seconds: 20 + Double(bytes) / 2_000_000) }
            #expect(datagrams.sent > 1000 && datagrams.lost * 20 < datagrams.sent, "\(datagrams)")
            for machine in [lab.left, lab.right] { #expect(try machine.checksumErrors() == 0) }
            for end in ends { #expect(end.isRunning) }
        }
    }

    /// An MTU with a set of off switches.
    struct Combination: CustomTestStringConvertible {
        let mtu: Int
        let switchedOff: [String]
        /// Whether the cable has room for the outer datagram; else it goes in fragments.
        var cableFits = true

        var testDescription: String {
            let without = switchedOff.isEmpty ? "everything" : "without \(switchedOff.joined(separator: ", "))"
            return "MTU \(mtu), \(without)\(cableFits ? "" : ", in fragments")"
        }
    }

    static let features = ["tun_tso", "tun_uso", "udp_gso", "udp_gro", "wide_aead"]

    /// Each MTU with all features and with none, each feature alone missing at one of them, and outer fragments.
    ///
    /// A receiver without super-packets towards the TUN is the one whose kernel checks every checksum that we made.
    static let combinations: [Combination] =
        [1280, 1420, 9000, 65_000].flatMap { mtu in
            [Combination(mtu: mtu, switchedOff: []), Combination(mtu: mtu, switchedOff: features)]
        } + [
            Combination(mtu: 1420, switchedOff: ["tun_tso"]), Combination(mtu: 65_000, switchedOff: ["tun_uso"]),
            Combination(mtu: 9000, switchedOff: ["udp_gso"]), Combination(mtu: 1280, switchedOff: ["udp_gro"]),
            Combination(mtu: 1420, switchedOff: ["tun_tso", "tun_uso"]),
            Combination(mtu: 9000, switchedOff: ["udp_gro"], cableFits: false),
        ]

    @Test("Every MTU and every off switch", arguments: combinations)
    func everySwitch(combination: Combination) throws {
        try Lab.run(mtu: combination.cableFits ? min(65_535, combination.mtu + 80) : 1500) { lab in
            var pair = try TunnelPair()
            pair.mtu = combination.mtu
            pair.switchedOff = combination.switchedOff
            // The left end is told by its file, the right end by its environment.
            let left = try lab.startTunnel(on: lab.left, pair.leftFile)
            pair.switchedOff = []
            let environment = Dictionary(
                uniqueKeysWithValues: combination.switchedOff.map { ("PROVIDERHOST_NO_" + $0.uppercased(), "1") })
            let right = try lab.startTunnel(on: lab.right, pair.rightFile, environment: environment)
            let note =
                combination.switchedOff.isEmpty
                ? "cipher" : "without " + combination.switchedOff.joined(separator: ", ")
            for end in [left, right] { try end.waitFor(note) }

            for size in [0, 17, 700, combination.mtu - 28] { try lab.right.ping("10.7.0.1", count: 1, size: size) }
            // Inner packets in fragments, which no offload may touch.
            let size = min(combination.mtu + 400, 65_400)
            for address in ["10.7.0.1", "fd07::1"] {
                try eventually("an answer to a ping in fragments") {
                    try lab.right.attempt("ping", "-c", "1", "-W", "1", "-s", "\(size)", "-M", "dont", address).status
                        == 0
                }
            }
            let bytes = TestSize.shortTransfer
            let transfers = [
                try lab.startTransfer(from: lab.left, to: lab.right, "fd07::2", port: 7001, bytes: bytes),
                try lab.startTransfer(from: lab.right, to: lab.left, "10.7.0.1", port: 7002, bytes: bytes),
            ]
            for transfer in transfers { try transfer.finish(seconds: 60 + Double(bytes) / 2_000_000) }
            for machine in [lab.left, lab.right] { #expect(try machine.checksumErrors() == 0) }
        }
    }
}
