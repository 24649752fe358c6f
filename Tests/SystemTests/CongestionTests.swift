import Foundation
import Testing

/// Explicit congestion notification through a tunnel (RFC 6040), both ends ours.
@Suite("Congestion marks", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct CongestionTests {
    @Test("The inner field is copied out, and a mark on the way comes in, or costs a packet that cannot carry it")
    func marks() throws {
        try Lab.run { lab in
            _ = try lab.startBoth(TunnelPair())
            // A router on the way that marks what may be marked, and counts what it saw.
            try lab.right(
                "nft",
                """
                table ip way {
                    counter capable {}
                    counter incapable {}
                    counter inside {}
                    chain outside {
                        type filter hook prerouting priority raw;
                        iifname "cable" udp dport 51821 ip ecn ect0 ip dscp 0 counter name capable ip ecn set ce
                        iifname "cable" udp dport 51821 ip ecn not-ect ip dscp 0 counter name incapable
                        iifname "phtun0" icmp type echo-request ip ecn ce ip dscp 8 counter name inside
                    }
                }
                """)
            func count(_ name: String) throws -> Int {
                let words = try lab.right("nft", "list", "counter", "ip", "way", name).split(
                    whereSeparator: \.isWhitespace)
                let place = try #require(words.firstIndex(of: "packets"))
                return try #require(Int(words[place + 1]))
            }
            // ToS 0x22: ECT(0), and a class of service, which stays inside.
            try lab.left("ping", "-c", "4", "-i", "0.1", "-W", "5", "-Q", "0x22", "10.7.0.2")
            #expect(try count("capable") == 4 && count("inside") == 4)
            try lab.left("ping", "-c", "4", "-i", "0.1", "-W", "5", "-Q", "0x20", "10.7.0.2")
            #expect(try count("capable") == 4 && count("incapable") == 4 && count("inside") == 4)
            // A router that marks what does not ask for it: the mark can only be told by a loss.
            try lab.right("nft", "insert rule ip way outside iifname cable udp dport 51821 ip ecn set ce")
            #expect(try lab.right.attempt("ping", "-c", "1", "-W", "1", "10.7.0.1").status != 0)
            #expect(try lab.left.attempt("ping", "-c", "2", "-W", "1", "-Q", "0x20", "10.7.0.2").status != 0)
            try lab.left("ping", "-c", "2", "-i", "0.1", "-W", "5", "-Q", "0x22", "10.7.0.2")
            #expect(try count("inside") == 6)
        }
    }
}
