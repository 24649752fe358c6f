import Foundation
import GatewayRegistry
import ProviderKit
import SQLite
import SettingsPush
import Testing
import WireGuard

@Suite("Registry: the file")
struct RegistryFileTests {
    private let scratch = Scratch()

    private func makeRegistry(_ pools: String...) throws -> Registry {
        var contents = try makeContents()
        var generator = Generator(1)
        for pool in pools { try contents.addPool(prefix(pool), now: 0, random: &generator) }
        try Registry.create(in: scratch.path, contents)
        return try Registry(folder: scratch.path)
    }

    private func permissions(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("It is made once, for its owner alone")
    func make() throws {
        #expect(throws: RegistryError(.notInitialized, cause: "There is no gateway: \(path) is missing.")) {
            _ = try Registry(folder: scratch.path).dataVersion
        }
        let registry = try makeRegistry("10.7.0.0/24")
        #expect(try permissions(scratch.path) == 0o700 && permissions(path) == 0o600)
        let contents = try registry.contents()
        #expect(contents.gateway == (try makeContents().gateway))
        let error = try #require(throws: RegistryError.self) {
            try Registry.create(in: scratch.path, contents)
        }
        #expect(error.code == .alreadyInitialized)
    }

    private var path: String { Registry.path(in: scratch.path) }

    @Test("What was changed is read back as it was, by another connection")
    func readBack() throws {
        let registry = try makeRegistry("10.7.0.0/24", "fd07::/64", "10.9.0.0/16")
        let preshared = PresharedKey(Key256(words: SIMD4(1, 2, 3, 4)))
        let written = try registry.change { contents throws(RegistryError) in
            var generator = Generator(4)
            let key = PublicKey(generator.nextKey())
            try contents.addPeer(
                GatewayPeer(
                    name: "a", publicKey: key, presharedKey: preshared, group: "staff",
                    siteSubnets: [IPPrefix.strict("192.168.4.0/24"), IPPrefix.strict("172.16.0.0/12")]),
                addresses: [], now: 5, random: &generator)
            try contents.renew("a", now: 50, random: &generator)
            try contents.addPeer(
                GatewayPeer(
                    name: "b", publicKey: PublicKey(generator.nextKey()), presharedKey: nil, group: nil,
                    siteSubnets: []), addresses: [IPAddress("10.9.3.4") ?? .v4(0)], now: 5, random: &generator)
            try contents.setState(.draining, of: "b")
            try contents.setDraining(true, pool: IPPrefix.strict("10.9.0.0/16"))
            for (scope, text) in [
                (PushScope.gateway, "0.0.0.0/0"), (.group("staff"), "::/0"), (.peer("b"), "10.1.0.0/16"),
            ] {
                try contents.addRoute(IPPrefix.strict(text), .included, for: scope)
                try contents.addRoute(IPPrefix.strict("10.1.2.0/24"), .excluded, for: scope)
            }
            try contents.setMTU(1300, for: .peer("a"))
        }
        let domains = try ["corp.example", "example.org"].map { try #require(DomainName($0)) }
        let dns = try DNSOffer(
            mode: .split, servers: [DNSServer(address: .v4(0x0a07_0001)), DNSServer(address: .v6(0xfd07 << 112 | 1))],
            searchDomains: domains, matchDomains: domains)
        let final = try registry.change { contents throws(RegistryError) in try contents.setDNS(dns, for: .group("g")) }
        #expect(final.versions == written.versions, "nobody is in the group, so nothing else is pushed")
        let read = try Registry(folder: scratch.path).contents()
        #expect(read == final)
        #expect(read.peers["a"]?.presharedKey == preshared)
    }

    @Test("A change that is refused changes nothing")
    func refused() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        let before = try registry.contents()
        let peer = try makePeer("a")
        let error = try #require(throws: RegistryError.self) {
            try registry.change { contents throws(RegistryError) in
                var generator = Generator(4)
                try contents.addPeer(peer, now: 0, random: &generator)
                try contents.removePeer("zoe")
            }
        }
        #expect(error.code == .unknownPeer)
        #expect(try registry.contents() == before)
    }

    @Test("The serial counts up with every change of what a peer is pushed, and with no other")
    func serials() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        func serials(_ change: (inout RegistryContents) throws(RegistryError) -> Void) throws -> [UInt64?] {
            let versions = try registry.change(change).versions
            return [versions["a"]?.serial, versions["b"]?.serial]
        }
        let (a, b) = try (makePeer("a", group: "g"), makePeer("b"))
        let route = try prefix("10.2.0.0/16")
        #expect(
            try serials { contents throws(RegistryError) in
                var generator = Generator(4)
                try contents.addPeer(a, now: 0, random: &generator)
                try contents.addPeer(b, now: 0, random: &generator)
            } == [1, 1])
        #expect(
            try serials { contents throws(RegistryError) in try contents.addRoute(route, .included, for: .gateway) }
                == [2, 2])
        #expect(
            try serials { contents throws(RegistryError) in try contents.addRoute(route, .included, for: .gateway) }
                == [2, 2])
        // The group's peer has the route already: what it is pushed stays the same.
        #expect(
            try serials { contents throws(RegistryError) in try contents.addRoute(route, .included, for: .group("g")) }
                == [2, 2])
        #expect(
            try serials { contents throws(RegistryError) in try contents.setMTU(1400, for: .group("g")) } == [3, 2])
        #expect(try serials { contents throws(RegistryError) in try contents.setState(.draining, of: "b") } == [3, 2])
        #expect(try serials { contents throws(RegistryError) in _ = try contents.forcePush(to: .gateway) } == [4, 3])
        #expect(try serials { contents throws(RegistryError) in try contents.removePeer("a") } == [nil, 3])
        let offered = try registry.contents().publishedSnapshot(of: "b")
        #expect(offered.version.serial == 3 && offered.version.epoch == 7)
        #expect(offered.version.digest == (try registry.contents().versions["b"]?.digest))
    }

    @Test("Somebody else's change shows in the version of the data, one's own does not")
    func watching() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        let other = try Registry(folder: scratch.path)
        let before = try registry.dataVersion
        try registry.change { contents throws(RegistryError) in try contents.setMTU(1400, for: .gateway) }
        #expect(try registry.dataVersion == before)
        try other.change { contents throws(RegistryError) in try contents.setMTU(1300, for: .gateway) }
        #expect(try registry.dataVersion != before)
    }

    @Test("Results are kept per peer, the last one counts, and go with the peer")
    func results() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        let peer = try makePeer("a")
        try registry.change { contents throws(RegistryError) in
            var generator = Generator(4)
            try contents.addPeer(peer, now: 0, random: &generator)
        }
        let finding = SettingsFinding(section: SectionType.routes.rawValue, index: 3, reason: .defaultRoute)
        func result(_ peer: String, _ serial: UInt64) -> ReportedResult {
            ReportedResult(peer: peer, receivedAt: 99, serial: serial, status: .filtered, findings: [finding, finding])
        }
        try registry.record([result("a", 1), result("gone", 1), result("a", .max)])
        #expect(try registry.results() == ["a": result("a", .max)])
        try registry.change { contents throws(RegistryError) in try contents.removePeer("a") }
        #expect(try registry.results().isEmpty)
    }

    @Test("A client's key is kept with the peer, and forgotten on request or with the peer")
    func clientKeys() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        let key = PrivateKey(Key256(words: SIMD4(9, 9, 9, 9)))
        for name in ["a", "b"] {
            let peer = try makePeer(name)
            try registry.change(keeping: key, of: name) { contents throws(RegistryError) in
                var generator = Generator(4)
                try contents.addPeer(peer, now: 0, random: &generator)
            }
        }
        #expect(try registry.clientKey(of: "a") == key)
        try registry.forgetClientKey(of: "a")
        try registry.change { contents throws(RegistryError) in try contents.removePeer("b") }
        for name in ["a", "b"] {
            let error = try #require(throws: RegistryError.self) { try registry.clientKey(of: name) }
            #expect(error.code == .clientKeyUnknown)
        }
    }

    @Test("A file that is no registry, and rows that the program did not write, are refused and not repaired")
    func damaged() throws {
        let registry = try makeRegistry("10.7.0.0/24")
        let database = try Database(path: path)
        try database.execute("UPDATE gateway SET endpoint = 'nowhere'")
        let error = try #require(throws: RegistryError.self) { try registry.contents() }
        #expect(error.code == .unusableFile)
        try database.execute("UPDATE gateway SET endpoint = '192.0.2.1:1'; UPDATE pools SET prefix = '10.7.0.0/99'")
        #expect(throws: RegistryError.self) { try registry.contents() }
        try database.setUserVersion(99)
        let version = try #require(throws: RegistryError.self) { _ = try Registry(folder: scratch.path).dataVersion }
        #expect(version.cause.contains("schema 99"))
        try Data("no database, but long enough to be taken for one".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: RegistryError.self) { _ = try Registry(folder: scratch.path).dataVersion }
    }
}
