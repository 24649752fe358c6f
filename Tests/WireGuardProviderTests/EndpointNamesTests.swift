import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("Names of endpoints")
struct EndpointNamesTests {
    private let keys = (1...3).map { PrivateKey(Key256(words: SIMD4(repeating: $0))).publicKey }
    private let addresses = ["192.0.2.1:1", "192.0.2.9:1", "[2001:db8::9]:1"].compactMap { Endpoint($0) }

    private func names() throws -> EndpointNames {
        let configuration = try Configuration(
            wgQuick: """
                [Interface]
                PrivateKey = \(PrivateKey(Key256(words: SIMD4(repeating: 9))).base64)
                [Peer]
                PublicKey = \(keys[0].base64)
                Endpoint = gw.example:1
                [Peer]
                PublicKey = \(keys[1].base64)
                Endpoint = 192.0.2.7:1
                """)
        return EndpointNames(configuration) { _ in [] }
    }

    /// The seconds at which the name is looked up while an initiation is sent every five.
    private func lookups(
        _ names: inout EndpointNames, seconds: ClosedRange<UInt64>, received: (UInt64) -> UInt64 = { _ in 0 }
    ) -> [UInt64] {
        stride(from: seconds.lowerBound, through: seconds.upperBound, by: 5).filter { second in
            let now = Instant.zero + .seconds(1000 + second)
            return names.noteInitiation(to: keys[0], received: received(second), now: now) != nil
        }
    }

    @Test(
        "are looked up with the third initiation that nothing answers, then after rests that double up to ten minutes")
    func rests() throws {
        var names = try names()
        #expect(lookups(&names, seconds: 0...2500) == [10, 40, 100, 220, 460, 940, 1540, 2140])
    }

    @Test("are left alone while the peer is heard, and looked up as soon as ever once it is silent again")
    func heard() throws {
        var names = try names()
        #expect(lookups(&names, seconds: 0...500) { $0 } == [])
        #expect(lookups(&names, seconds: 505...600) { _ in 500 } == [510, 540, 600])
        #expect(lookups(&names, seconds: 605...640) { _ in 501 } == [615])
    }

    @Test("lead to their addresses in turn, and nowhere if there is none or the peer was heard")
    func turns() throws {
        var names = try names()
        _ = lookups(&names, seconds: 0...10) { _ in 7 }
        func next(_ found: [Endpoint], after present: Endpoint?, received: UInt64 = 7) -> Endpoint? {
            names.next(of: keys[0], among: found, after: present, received: received)
        }
        let others = Array(addresses.dropFirst())
        #expect(next(others, after: addresses[0]) == addresses[1], "the name changed")
        #expect(
            next(addresses, after: addresses[0]) == addresses[1] && next(addresses, after: addresses[1]) == addresses[2]
        )
        #expect(next(addresses, after: addresses[2]) == addresses[0] && next(addresses, after: nil) == addresses[0])
        #expect(next([], after: addresses[0]) == nil, "the last good address stays")
        #expect(next([addresses[0]], after: addresses[0]) == nil)
        #expect(next(others, after: addresses[0], received: 8) == nil, "heard meanwhile")
    }

    @Test("are those of peers with a host name, until somebody else decides about the endpoint")
    func others() throws {
        var names = try names()
        for key in keys.dropFirst() {
            for second: UInt64 in 0...9 {
                #expect(names.noteInitiation(to: key, received: 0, now: .zero + .seconds(second * 5)) == nil)
            }
        }
        names.forget(keys[0])
        #expect(names.isEmpty && lookups(&names, seconds: 0...100) == [])
        #expect(names.next(of: keys[0], among: addresses, after: nil, received: 0) == nil)
    }
}
