import Foundation
import Testing

/// Every checksum that we fill in is right, as tcpdump counts it.
@Suite("Checksums", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct ChecksumTests {
    /// Captures what comes in on an interface while `body` runs, and returns what tcpdump says of each packet.
    private func capture(
        _ lab: Lab, on machine: Machine, _ interface: String, _ filter: String, options: [String] = [],
        _ body: () throws -> Void
    ) throws -> String {
        let file = lab.folder.appendingPathComponent("\(interface).pcap").path
        let tcpdump = try lab.start(
            on: machine,
            ["tcpdump", "-i", interface, "-Q", "in", "-s", "0", "-B", "65536", "-n", "-Z", "root", "-w", file, filter])
        try tcpdump.waitFor("listening on")
        try body()
        // What is in the ring of the capture reaches the file within its time-out of a second.
        sleep(2)
        tcpdump.signal(SIGINT)
        _ = try tcpdump.waitForExit()
        #expect(tcpdump.output.contains("0 packets dropped by kernel"), "\(tcpdump.output)")
        return try Machine.host(
            "bash", "-c", "tcpdump -n -vv \(options.joined(separator: " ")) -r '\(file)' 2>/dev/null")
    }

    /// The lines that tcpdump marks for a wrong checksum: `(incorrect -> …)`, `[bad udp cksum …]`, `(bad cksum …)`.
    private func complaints(in text: String) -> [Substring] {
        text.split(separator: "\n").filter {
            $0.contains("incorrect") || $0.contains("[bad ") || $0.contains("bad cksum")
        }
    }

    @Test("None is wrong on the receiver's TUN or on the cable, over TCP and UDP in both families")
    func mixedTransfer() throws {
        try Lab.run { lab in
            // The cable's device completes no checksum and cuts nothing, so that the capture sees what is sent.
            for machine in [lab.left, lab.right] {
                try machine("ethtool", "-K", "cable", "tx", "off", "tso", "off", "gso", "off")
            }
            var pair = try TunnelPair()
            _ = try lab.startTunnel(on: lab.left, pair.leftFile)
            // The receiver writes packets as they came: the checksums are those that the sender's segmenting made.
            pair.switchedOff = ["tun_tso", "tun_uso"]
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1", count: 1)
            try lab.startServer(on: lab.right)

            var outside = ""
            let inside = try capture(lab, on: lab.right, "phtun0", "ip or ip6") {
                outside = try capture(lab, on: lab.right, "cable", "udp port 51820") {
                    let transfers = [
                        try lab.startTransfer(from: lab.left, to: lab.right, "10.7.0.2", port: 7001, bytes: 2_000_000),
                        try lab.startTransfer(from: lab.left, to: lab.right, "fd07::2", port: 7002, bytes: 2_000_000),
                    ]
                    let datagrams = try lab.sendDatagrams(length: 1300, megabitsPerSecond: 10, seconds: 1)
                    #expect(datagrams.sent > 500)
                    for transfer in transfers { try transfer.finish() }
                }
            }
            for (text, packets) in [(inside, 3500), (outside, 3500)] {
                #expect(text.split(separator: "\n").count > packets)
                #expect(complaints(in: text) == [])
                #expect(text.contains("udp sum ok"))
            }
            #expect(inside.contains("cksum 0x") && inside.contains("(correct)"))
        }
    }

    @Test("tcpdump does complain of a checksum that is left to the device")
    func captureSeesWrongChecksums() throws {
        try Lab.run { lab in
            // With offloads on the cable hands the packet on with the sum of the pseudo header alone.
            let text = try capture(lab, on: lab.right, "cable", "udp") {
                try lab.left("bash", "-c", "echo hello | ncat -u --send-only 192.0.2.2 4001")
            }
            #expect(complaints(in: text).count == 1, "\(text)")
        }
    }

    @Test("A UDP checksum of 0 is sent as 0xffff", arguments: ["10.7.0.2", "fd07::2"])
    func zero(destination: String) throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            _ = try lab.startTunnel(on: lab.left, pair.leftFile)
            pair.switchedOff = ["tun_tso", "tun_uso"]
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1", count: 1)
            let isIPv4 = !destination.contains(":")
            // Addresses, protocol 17, both lengths of 10, the ports: with the right two bytes of payload the sum is 0xffff.
            let words =
                isIPv4 ? [0x0a07, 0x0001, 0x0a07, 0x0002] : [0xfd07, 0x0001, 0xfd07, 0x0002]
            var sum = words.reduce(17 + 10 + 10 + 4000 + 4001, +)
            while sum > 0xffff { sum = (sum & 0xffff) + sum >> 16 }
            let payload = 0xffff - sum
            let escape = [payload >> 8, payload & 255].map { "\\x" + String($0, radix: 16) }.joined()
            let text = try capture(lab, on: lab.right, "phtun0", "udp port 4001", options: ["-x"]) {
                try lab.left(
                    "bash", "-c",
                    "printf '\(escape)' | ncat \(isIPv4 ? "-4" : "-6") -u -p 4000 --send-only \(destination) 4001")
            }
            #expect(text.contains("udp sum ok"), "\(text)")
            // The checksum is the last word before the payload, with which the packet ends.
            let dump = text.split(separator: "\n").filter { $0.contains("\t0x") }
                .flatMap { $0.split(separator: ":")[1].split(separator: " ") }
            #expect(dump.suffix(2) == ["ffff", Substring(String(payload + 0x10000, radix: 16).dropFirst())])
        }
    }
}
