import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("Packets that wait for a session")
struct StagedPacketsTests {
    /// Two peers of a device, as only a device names peers.
    private func peers() throws -> (PeerIndex, PeerIndex) {
        var device = Device(timestamps: TimestampGuard(last: .zero))
        let first = device.addPeer(PublicKey(Key256(words: SIMD4(1, 0, 0, 0))), endpoint: nil)
        let second = device.addPeer(PublicKey(Key256(words: SIMD4(2, 0, 0, 0))), endpoint: nil)
        return (try #require(first), try #require(second))
    }

    @Test("Order is kept per peer, and taking empties")
    func order() throws {
        let (first, second) = try peers()
        var staged = StagedPackets()
        for number: UInt8 in 0..<3 {
            #expect(staged.stage([number], for: first) == 0)
            #expect(staged.stage([number + 10], for: second) == 0)
        }
        #expect(staged.holds(first))
        #expect(staged.take(first) == [[0], [1], [2]])
        #expect(!staged.holds(first) && staged.take(first).isEmpty)
        #expect(staged.take(second) == [[10], [11], [12]])
    }

    @Test("The 129th packet of a peer pushes the oldest out")
    func limitPerPeer() throws {
        let (first, _) = try peers()
        var staged = StagedPackets()
        for number in 0..<130 { #expect(staged.stage([UInt8(number)], for: first) == (number < 128 ? 0 : 1)) }
        #expect(staged.take(first).first == [2])
    }

    @Test("8 MiB in all is the end, and taking makes room")
    func limitInAll() throws {
        let (first, second) = try peers()
        var staged = StagedPackets()
        let large = [UInt8](repeating: 0, count: 65_535)
        for _ in 0..<128 { #expect(staged.stage(large, for: first) == 0) }
        #expect(staged.stage(large, for: second) == 1)
        #expect(!staged.holds(second))
        _ = staged.take(first)
        #expect(staged.stage(large, for: second) == 0)
    }
}
