import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("Packets on their way to the control loop")
struct ControlPacketQueueTests {
    /// Names of peers come from a device alone.
    private func peers(_ count: UInt8) throws -> [PeerIndex] {
        var device = Device(timestamps: TimestampGuard(last: .zero))
        var peers: [PeerIndex] = []
        for seed in 1...count {
            let added = device.addPeer(PublicKey(Key256(words: SIMD4(repeating: UInt64(seed)))), endpoint: nil)
            peers.append(try #require(added))
        }
        return peers
    }

    @Test("Without a control plane nothing is kept")
    func closed() throws {
        var queue = ControlPacketQueue()
        let taken = queue.push([1], from: try peers(1)[0], .zero)
        #expect(!taken)
        queue.open()
        let takenThen = queue.push([1], from: try peers(1)[0], .zero)
        #expect(takenThen)
    }

    @Test("A peer that floods fills its own share, and others are heard")
    func shares() throws {
        let peers = try peers(2)
        var queue = ControlPacketQueue()
        queue.open()
        var kept = 0
        for _ in 0..<1000 where queue.push([UInt8](repeating: 0, count: 100), from: peers[0], .zero) { kept += 1 }
        #expect(kept == ControlPacketQueue.packetsPerPeer)
        let other = queue.push([2], from: peers[1], .zero)
        #expect(other)
        let all = queue.takeAll()
        #expect(all.count == kept + 1 && all.last?.bytes == [2])
    }

    @Test("What a peer sends is bounded in bytes a second, however fast it is taken")
    func budget() throws {
        let peer = try peers(1)[0]
        var queue = ControlPacketQueue()
        queue.open()
        func flood(at now: Instant) -> Int {
            (0..<1000).count { _ in
                defer { _ = queue.takeAll() }
                return queue.push([UInt8](repeating: 0, count: 1000), from: peer, now)
            }
        }
        let first = flood(at: .zero)
        let later = flood(at: .zero + .seconds(1))
        #expect(first == (64 << 10) / 1000 && later == 8)
    }
}
