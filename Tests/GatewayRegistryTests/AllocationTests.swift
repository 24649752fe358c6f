import GatewayRegistry
import ProviderKit
import SettingsPush
import Testing
import WireGuard

@Suite("Registry: addresses")
struct AllocationTests {
    @Test("A peer gets one address of each family, of the first pool that has one, and never the gateway's")
    func families() throws {
        var contents = try makeContents("10.7.0.0/30", "10.8.0.0/24", "fd07::/64")
        for name in ["a", "b", "c"] { try contents.add(makePeer(name)) }
        // Of a /30, the network, the gateway and the broadcast address leave one.
        #expect(contents.addresses(of: "a").first == "10.7.0.2")
        for name in ["b", "c"] {
            let addresses = contents.addresses(of: name)
            #expect(addresses.count == 2)
            #expect(addresses[0].hasPrefix("10.8.0.") && addresses[1].hasPrefix("fd07::"), "\(addresses)")
        }
    }

    @Test("A pool is filled to its last address, each given once; then it is exhausted", arguments: 1...4)
    func fill(_ seed: UInt64) throws {
        var contents = try makeContents("10.7.0.0/26")
        for index in 0..<61 { try contents.add(makePeer("peer\(index)"), seed: seed &+ UInt64(index)) }
        let addresses = Set(contents.peers.keys.flatMap(contents.addresses))
        #expect(addresses == Set((2...62).map { "10.7.0.\($0)" }))
        let error = try #require(throws: RegistryError.self) { try contents.add(makePeer("last")) }
        #expect(error.code == .poolExhausted && error.cause.contains("`last`"))
        #expect(contents.peers["last"] == nil)
    }

    @Test("The key decides: a peer that was removed gets its address back, in whatever order")
    func sticky() throws {
        var contents = try makeContents("10.7.0.0/16", "fd07::/64")
        for name in ["a", "b", "c"] { try contents.add(makePeer(name)) }
        let before = ["a", "b", "c"].map(contents.addresses)
        for name in ["a", "b", "c"] { try contents.removePeer(name) }
        #expect(contents.leases.byAddress.isEmpty)
        for name in ["c", "a", "b"] { try contents.add(makePeer(name), seed: 99) }
        #expect(["a", "b", "c"].map(contents.addresses) == before)
    }

    @Test("A lease ends without contact, rests for two leases, and comes back to its peer until somebody else needs it")
    func lifeOfALease() throws {
        var contents = try makeContents("10.7.0.0/30")
        var generator = Generator(5)
        try contents.add(makePeer("a"))
        #expect(contents.expireLeases(now: .max).isEmpty, "a peer that was never heard keeps its address")
        try contents.renew("a", now: 10_000, random: &generator)
        #expect(contents.expireLeases(now: 13_599).isEmpty)
        #expect(contents.expireLeases(now: 13_600) == ["a"])
        #expect(contents.addresses(of: "a").isEmpty)
        #expect(try contents.allowedIPs(of: "a").isEmpty)
        #expect(try contents.snapshot(of: "a").addresses.isEmpty)

        // It is the only address: until it has rested, it is nobody else's.
        func add(_ name: String, at now: Int64) throws {
            var generator = Generator(6)
            try contents.addPeer(makePeer(name), now: now, random: &generator)
        }
        #expect(throws: RegistryError.self) { try add("b", at: 13_600 + 7199) }
        try contents.renew("a", now: 14_000, random: &generator)
        #expect(contents.addresses(of: "a") == ["10.7.0.2"])

        contents.release("a", now: 15_000)
        #expect(contents.addresses(of: "a").isEmpty)
        try add("b", at: 15_000 + 7200)
        #expect(contents.addresses(of: "b") == ["10.7.0.2"])
        let error = try #require(throws: RegistryError.self) {
            try contents.renew("a", now: 30_000, random: &generator)
        }
        #expect(error.code == .poolExhausted)
    }

    @Test("A chosen address and a lease without end are never taken back")
    func permanent() throws {
        var contents = try makeContents("10.7.0.0/24")
        var generator = Generator(5)
        try contents.add(makePeer("a"), addresses: ["10.7.0.77"])
        try contents.renew("a", now: 0, random: &generator)
        contents.release("a", now: 1)
        #expect(contents.expireLeases(now: .max).isEmpty)
        #expect(contents.addresses(of: "a") == ["10.7.0.77"])
    }

    @Test("Leases that ran out while the gateway was down begin anew")
    func afterDowntime() throws {
        var contents = try makeContents("10.7.0.0/24")
        var generator = Generator(5)
        try contents.add(makePeer("a"))
        try contents.renew("a", now: 0, random: &generator)
        contents.extendLeases(now: 1_000_000)
        #expect(contents.expireLeases(now: 1_000_000 + 3599).isEmpty)
        #expect(contents.expireLeases(now: 1_000_000 + 3600) == ["a"])
    }

    @Test("A pool that drains gives nothing to new peers; one that is removed gives way to another")
    func poolsGo() throws {
        var contents = try makeContents("10.7.0.0/24", "10.8.0.0/24")
        var generator = Generator(5)
        try contents.add(makePeer("a"))
        try contents.setDraining(true, pool: prefix("10.7.0.0/24"))
        try contents.add(makePeer("b"))
        #expect(contents.addresses(of: "a")[0].hasPrefix("10.7.0."))
        #expect(contents.addresses(of: "b")[0].hasPrefix("10.8.0."))
        let first = try prefix("10.7.0.0/24")
        let error = try #require(throws: RegistryError.self) {
            try contents.removePool(first, reassigning: false, now: 0, random: &generator)
        }
        #expect(error.code == .poolInUse)
        try contents.removePool(first, reassigning: true, now: 0, random: &generator)
        #expect(contents.addresses(of: "a")[0].hasPrefix("10.8.0."))
        #expect(contents.pools.map { "\($0.prefix)" } == ["10.8.0.0/24"])
    }

    @Test("A pool of another family, added later, serves the peers that are there")
    func laterPool() throws {
        var contents = try makeContents("10.7.0.0/24")
        var generator = Generator(5)
        for name in ["a", "b", "c"] { try contents.add(makePeer(name)) }
        try contents.addPool(prefix("fd07::/126"), now: 0, random: &generator)
        // A /126 leaves two: the routers' anycast address and the gateway's are taken.
        #expect(["a", "b", "c"].map { contents.addresses(of: $0).count } == [2, 2, 1])
    }
}
