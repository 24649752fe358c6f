import Testing

@testable import WireGuard

private struct Prefix<Key: Hashable>: Hashable {
    let key: Key
    let length: Int
}

@Suite("Allowed IPs")
struct AllowedIPsTests {
    /// The trie and a plain dictionary get the same random operations, and must answer alike.
    private func compare<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Hashable>(
        _: Key.Type, seed: UInt64, steps: Int
    ) {
        var random = SplitMix(seed: seed)
        var trie = PrefixTrie<Key>()
        var oracle: [Prefix<Key>: UInt32] = [:]
        func mask(_ key: Key, _ length: Int) -> Key { length == 0 ? 0 : key & ~(Key.max >> length) }
        func address() -> Key {
            // Few distinct bits, at the top and at the bottom, so that prefixes nest and collide.
            let raw = Key(truncatingIfNeeded: random.next() & 0x0f0f)
            return raw | Key(truncatingIfNeeded: random.next() & 0x3f) << (Key.bitWidth - 6)
        }
        func expected(_ address: Key) -> UInt32 {
            let covering = oracle.filter { mask(address, $0.key.length) == $0.key.key }
            return covering.max { $0.key.length < $1.key.length }?.value ?? PrefixTrie<Key>.none
        }
        for _ in 0..<steps {
            let length = random.chance(300) ? Key.bitWidth - random.below(16) : random.below(Key.bitWidth + 1)
            let prefix = Prefix(key: mask(address(), length), length: length)
            let owner = UInt32(random.below(7))
            switch random.below(100) {
            case 0..<60:
                trie.insert(prefix.key, length: length, owner: owner)
                oracle[prefix] = owner
            case 60..<90:
                let known = oracle.keys.randomElement(using: &random) ?? prefix
                trie.remove(known.key, length: known.length, owner: owner)
                if oracle[known] == owner { oracle[known] = nil }
            case 90..<93:
                trie.removeAll(of: owner)
                oracle = oracle.filter { $0.value != owner }
            default: break
            }
            #expect(trie.count == oracle.count)
            for _ in 0..<4 {
                let probe = address()
                #expect(trie.owner(of: probe) == expected(probe))
            }
        }
        for owner in 0..<UInt32(7) {
            var listed: Set<Prefix<Key>> = []
            trie.forEach(of: owner) { listed.insert(Prefix(key: $0, length: $1)) }
            #expect(listed == Set(oracle.filter { $0.value == owner }.keys))
        }
    }

    @Test("IPv4 lookups agree with a naive search on random changes", arguments: 0..<12)
    func randomV4(seed: UInt64) {
        compare(UInt32.self, seed: seed, steps: 250)
    }

    @Test("IPv6 lookups agree with a naive search on random changes", arguments: 0..<12)
    func randomV6(seed: UInt64) {
        compare(UInt128.self, seed: seed, steps: 250)
    }

    @Test("A prefix moves to the peer that gets it last, and goes with that peer")
    func movesAndRemoval() throws {
        var random = SplitMix(seed: 1)
        var device = Device(timestamps: TimestampGuard(last: .zero))
        var transport = Transport()
        func drain() {
            while let action = device.pollAction() { _ = transport.apply(action, now: .zero) }
        }
        let added = device.addPeer(PublicKey(random.key()), endpoint: nil)
        let first = try #require(added)
        let addedNext = device.addPeer(PublicKey(random.key()), endpoint: nil)
        let second = try #require(addedNext)
        drain()
        let wide = try prefixes("10.0.0.0/8", "::/0", "fd00::/8")
        transport.insertAllowedIPs(wide, for: first)
        transport.insertAllowedIPs(try prefixes("10.1.0.0/16", "fd00::/8"), for: second)
        func owner(_ text: String) throws -> PeerIndex? { transport.peer(for: try #require(IPAddress(text))) }
        #expect(try owner("10.1.2.3") == second)
        #expect(try owner("10.2.2.3") == first)
        #expect(try owner("11.0.0.1") == nil)
        #expect(try owner("fd00::1") == second)
        #expect(try owner("2001::1") == first)
        #expect(Set(transport.allowedIPs(of: first)) == Set(try prefixes("10.0.0.0/8", "::/0")))
        // The longest prefix decides, not any covering one.
        let inner = try #require(IPAddress("10.1.2.3"))
        #expect(transport.isAllowed(source: inner, from: first) == false)
        #expect(transport.isAllowed(source: inner, from: second) == true)
        transport.removeAllowedIP(try #require(IPPrefix("10.1.0.0/16")), from: first)
        #expect(try owner("10.1.2.3") == second)
        device.removePeer(second)
        drain()
        #expect(try owner("10.1.2.3") == first)
        #expect(transport.allowedIPCount == 2)
        // The slot is used again, under another generation.
        let addedThird = device.addPeer(PublicKey(random.key()), endpoint: nil)
        let third = try #require(addedThird)
        drain()
        #expect(third.slot == second.slot && third != second)
        #expect(transport.allowedIPs(of: third) == [])
        #expect(!transport.contains(second) && transport.contains(third))
    }
}
