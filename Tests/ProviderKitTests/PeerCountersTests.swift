import ProviderKit
import Testing

@Suite("Counters of peers")
struct PeerCountersTests {
    /// The longest reply to an app message.
    private static let limit = 1 << 20

    @Test("A reply is read as it was written")
    func roundTrip() throws {
        let peers = [
            PeerCounters(name: "a+/=", values: ["receivedBytes": 0, "sentBytes": .max]),
            PeerCounters(name: "b", values: [:]),
        ]
        let read = try #require(PeerCounters.read(PeerCounters.reply(peers)))
        #expect(read.peers == peers && read.omitted == 0)
        #expect(PeerCounters.read([])?.peers == [])
    }

    @Test("Peers that do not fit into a reply are counted")
    func omitted() throws {
        let peers = (0..<20_000).map { number in
            PeerCounters(name: "peer \(number) " + String(repeating: "k", count: 44), values: ["receivedBytes": .max])
        }
        let reply = PeerCounters.reply(peers)
        #expect(reply.count <= Self.limit)
        let read = try #require(PeerCounters.read(reply))
        #expect(read.omitted > 0 && read.peers.count + Int(read.omitted) == peers.count)
        #expect(read.peers == Array(peers.prefix(read.peers.count)))
    }

    @Test(
        "Anything else is no reply",
        arguments: [
            "peer", "x=1", "peer=a\nx=", "peer=a\nx=-1", "peer=a\nx=1.5", "peer=\u{1b}[2J", "peer=ü", "omitted=x",
        ])
    func wrong(_ text: String) {
        #expect(PeerCounters.read(Array(text.utf8)) == nil)
    }

    @Test("A reply that is no text, or too long, is none")
    func bytes() {
        #expect(PeerCounters.read([0xff, 0x3d]) == nil)
        #expect(PeerCounters.read(Array(repeating: UInt8(ascii: "\n"), count: Self.limit + 1)) == nil)
    }
}
