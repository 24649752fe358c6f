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
            // A stride needs two prefixes below it, a leaf one; more would be some that nobody freed.
            #expect(trie.strides.count <= max(0, oracle.count - 1) && trie.leaves.count <= oracle.count)
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
        for owner in 0..<UInt32(7) { trie.removeAll(of: owner) }
        #expect(trie.count == 0 && trie.strides.count == 0 && trie.leaves.count == 0)
        #expect(trie.owner(of: address()) == PrefixTrie<Key>.none)
    }

    @Test("IPv4 lookups agree with a naive search on random changes", arguments: 0..<12)
    func randomV4(seed: UInt64) {
        compare(UInt32.self, seed: seed, steps: 250)
    }

    @Test("IPv6 lookups agree with a naive search on random changes", arguments: 0..<12)
    func randomV6(seed: UInt64) {
        compare(UInt128.self, seed: seed, steps: 250)
    }

    /// Prefixes of whole bytes and just beside them, where strides begin and end, in a dense corner and all over.
    private func compareAtBytes<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Hashable>(
        _: Key.Type, seed: UInt64
    ) {
        var random = SplitMix(seed: seed)
        var trie = PrefixTrie<Key>()
        var oracle: [Prefix<Key>: UInt32] = [:]
        func key(_ length: Int) -> Key {
            var key: Key = 0
            for _ in 0..<Key.bitWidth / 8 {
                key = key << 8 | Key(truncatingIfNeeded: [0, 1, 2, 255, Int(random.next() & 255)][random.below(5)])
            }
            return length == 0 ? 0 : key & ~(Key.max >> length)
        }
        for step in 0..<600 {
            let length = min(Key.bitWidth, max(0, random.below(Key.bitWidth / 8 + 1) * 8 + random.below(3) - 1))
            let prefix = Prefix(key: key(length), length: length)
            let owner = UInt32(random.below(5))
            if step % 200 < 150 {
                trie.insert(prefix.key, length: length, owner: owner)
                oracle[prefix] = owner
            } else if let known = oracle.keys.randomElement(using: &random), let owner = oracle[known] {
                trie.remove(known.key, length: known.length, owner: owner)
                oracle[known] = nil
            }
            guard step % 30 == 29 else { continue }
            for (prefix, _) in oracle {
                // The first and the last address of a prefix and those beside them, where the answer changes.
                let last = prefix.length == 0 ? Key.max : prefix.key | Key.max >> prefix.length
                for probe in [prefix.key, last, prefix.key &- 1, last &+ 1] {
                    let covering = oracle.filter {
                        $0.key.length == 0 || (probe ^ $0.key.key).leadingZeroBitCount >= $0.key.length
                    }
                    let expected = covering.max { $0.key.length < $1.key.length }?.value ?? PrefixTrie<Key>.none
                    let found = trie.owner(of: probe)
                    #expect(found == expected, "seed \(seed) step \(step) address \(probe)")
                    guard found == expected else { return }
                }
            }
        }
    }

    @Test("IPv4 lookups agree at the edges of prefixes of whole bytes", arguments: 0..<4)
    func edgesV4(seed: UInt64) {
        compareAtBytes(UInt32.self, seed: seed)
    }

    @Test("IPv6 lookups agree at the edges of prefixes of whole bytes", arguments: 0..<4)
    func edgesV6(seed: UInt64) {
        compareAtBytes(UInt128.self, seed: seed)
    }

    @Test("A prefix of up to 16 bits behind its slot takes no leaf, unless the slot is covered apart from the stride")
    func withoutLeaf() {
        var trie = PrefixTrie<UInt128>()
        // A place in the byte behind fd00::/16, and one in it that a prefix of 40 bits there does not cover.
        func place(_ slot: UInt128) -> UInt128 { 0xfd00 << 112 | slot << 104 }
        func beside(_ slot: UInt128) -> UInt128 { place(slot) | 1 << 88 }
        for slot in 0..<UInt128(8) { trie.insert(place(slot * 32), length: 40, owner: UInt32(slot)) }
        #expect(trie.strides.count == 1 && trie.leaves.count == 0)
        trie.insert(place(1), length: 41, owner: 9)
        #expect(trie.leaves.count == 1)
        #expect(trie.owner(of: place(64) | 1) == 2 && trie.owner(of: beside(64)) == PrefixTrie<UInt128>.none)

        // The slots 0 to 63 go to another owner.
        trie.insert(place(0), length: 18, owner: 10)
        #expect(trie.leaves.count == 3)
        #expect(trie.owner(of: place(32) | 1) == 1 && trie.owner(of: beside(32)) == 10)
        trie.remove(place(0), length: 18, owner: 10)
        #expect(trie.leaves.count == 1)
        #expect(trie.owner(of: beside(32)) == PrefixTrie<UInt128>.none)

        // The whole stride does.
        trie.insert(0, length: 0, owner: 11)
        #expect(trie.leaves.count == 1)
        #expect(trie.owner(of: place(32) | 1) == 1 && trie.owner(of: beside(32)) == 11)
        #expect(trie.owner(of: place(1)) == 9 && trie.owner(of: place(1) | 1 << 87) == 11)
    }

    @Test("130,560 prefixes take at most 30 MB of memory, also where each stride has two of them, and none take none")
    func memory() {
        // A cache line, so that a look-up reads one for each.
        #expect(MemoryLayout<Stride<UInt128>>.stride == 64)
        let empty = PrefixTrie<UInt128>()
        #expect(empty.byteCount < 8192)
        var spread = PrefixTrie<UInt128>()
        var pairs = PrefixTrie<UInt128>()
        var random = SplitMix(seed: 5)
        var place: UInt128 = 0
        for index in 0..<UInt128(130_560) {
            spread.insert((0xfd_0000 + index / 256) << 104 | (index % 256) << 80, length: 64, owner: UInt32(index % 7))
            // Two neighbours at each random place.
            if index % 2 == 0 { place = UInt128(random.next()) << 64 }
            pairs.insert(place | index % 2, length: 128, owner: UInt32(index % 7))
        }
        #expect(spread.byteCount < 30_000_000 && spread.count == 130_560)
        #expect(pairs.byteCount < 30_000_000 && pairs.count == 130_560)
        for owner in 0..<UInt32(7) { spread.removeAll(of: owner) }
        #expect(spread.count == 0 && spread.strides.count == 0)
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

    @Test("A reserved address is no peer's, whatever they have and get, until it is given back")
    func reservation() throws {
        var device = Device(timestamps: TimestampGuard(last: .zero))
        var transport = Transport()
        let added = device.addPeer(PublicKey(Key256(words: SIMD4(repeating: 1))), endpoint: nil)
        let peer = try #require(added)
        while let action = device.pollAction() { _ = transport.apply(action, now: .zero) }
        let everything = try prefixes("::/0", "fe80::1/128", "fe80::/64")
        transport.insertAllowedIPs(everything, for: peer)
        let (kept, beside) = (try #require(IPAddress("fe80::1")), try #require(IPAddress("fe80::2")))
        transport.reserve(kept)
        transport.insertAllowedIPs(everything, for: peer)
        transport.removeAllowedIP(try #require(IPPrefix("fe80::1/128")), from: peer)
        #expect(transport.peer(for: kept) == nil)
        #expect(transport.isAllowed(source: kept, from: peer) == false)
        #expect(transport.peer(for: beside) == peer)
        #expect(Set(transport.allowedIPs(of: peer)) == Set(try prefixes("::/0", "fe80::/64")))
        #expect(transport.allowedIPCount == 2)
        transport.release(kept)
        #expect(transport.peer(for: kept) == peer)
        device.removePeer(peer)
        while let action = device.pollAction() { _ = transport.apply(action, now: .zero) }
        #expect(transport.allowedIPCount == 0 && transport.peer(for: beside) == nil)
    }
}
