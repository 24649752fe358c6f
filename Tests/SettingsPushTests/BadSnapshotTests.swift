import Testing
import WireGuard

@testable import SettingsPush

/// Snapshots that no gateway may offer and no client may take, each with the reason at both ends.
struct BadSnapshot: CustomTestStringConvertible {
    let testDescription: String
    /// The canonical bytes as hexadecimal digits, spaces for the eye.
    let bytes: String
    let section: UInt16
    let index: UInt16
    let reason: ReasonCode

    init(_ name: String, _ bytes: String, _ section: UInt16, _ index: UInt16, _ reason: ReasonCode) {
        testDescription = name
        self.bytes = bytes
        self.section = section
        self.index = index
        self.reason = reason
    }

    /// A section with its right length.
    private static func section(_ type: String, _ content: String) -> String {
        let digits = String(content.count { !$0.isWhitespace } / 2, radix: 16)
        return type + " " + String(repeating: "0", count: 8 - digits.count) + digits + " " + content
    }

    private static func dns(_ content: String) -> String { section("0010", content) }
    private static func notice(_ content: String) -> String { section("0040", content) }
    private static func routes(_ content: String) -> String { section("8002", content) }
    private static func addresses(_ content: String) -> String { section("8001", content) }

    /// One server for split DNS; search and match list follow.
    private static let server = "01 01 04 0a000001 0035 00 00"

    static let all = [
        BadSnapshot("a section that ends early", "8002 00000004 04080a", 0x8002, 0, .truncated),
        BadSnapshot("a section header that ends early", "8002 0000", 0, 0, .truncated),
        BadSnapshot("a length of 4 GiB", "8002 ffffffff 04", 0x8002, 0, .truncated),
        BadSnapshot(
            "sections out of order", routes("04080a") + addresses("04200a00000200"), 0x8001, 0, .unsorted),
        BadSnapshot("a section twice", routes("04080a") + routes("04080b"), 0x8002, 0, .duplicate),
        BadSnapshot("an unknown critical section", section("8004", "00"), 0x8004, 0, .unknownCritical),
        BadSnapshot("a critical bit turned", section("0002", "04080a"), 0x0002, 0, .nonCanonical),
        BadSnapshot("an empty section", routes(""), 0x8002, 0, .nonCanonical),
        BadSnapshot("routes out of order", routes("04080b 04080a"), 0x8002, 1, .unsorted),
        BadSnapshot("a route twice", routes("04080a 04080a"), 0x8002, 1, .duplicate),
        BadSnapshot("a route of family 5", routes("05080a"), 0x8002, 0, .badFamily),
        BadSnapshot("a route of length 33", routes("04210a00000000"), 0x8002, 0, .badPrefixLength),
        BadSnapshot("a route with host bits", routes("04070b"), 0x8002, 0, .hostBits),
        BadSnapshot("a route that ends early", routes("04080a 0410"), 0x8002, 1, .truncated),
        BadSnapshot("an exclusion with host bits", section("0003", "04080a 040a0c30"), 0x0003, 1, .hostBits),
        BadSnapshot("an address with flags", addresses("04200a00000201"), 0x8001, 0, .nonCanonical),
        BadSnapshot("an address twice", addresses("04200a00000200 04200a00000200"), 0x8001, 1, .duplicate),
        BadSnapshot(
            "nine addresses", addresses((1...9).map { "04200a00000\($0)00" }.joined()), 0x8001, 8, .tooManyItems),
        BadSnapshot("an MTU of 68", section("0020", "0044"), 0x0020, 0, .badMTU),
        BadSnapshot("an MTU with a third byte", section("0020", "057800"), 0x0020, 0, .trailingBytes),
        BadSnapshot("a notice with an escape sequence", notice("1b5b324a"), 0x0040, 0, .badText),
        BadSnapshot("a notice that turns its direction", notice("61 e280ae 62"), 0x0040, 0, .badText),
        BadSnapshot("a notice that is not UTF-8", notice("c328"), 0x0040, 0, .badText),
        BadSnapshot("a notice with a NUL", notice("610062"), 0x0040, 0, .badText),
        BadSnapshot("a notice of 513 bytes", notice(String(repeating: "61", count: 513)), 0x0040, 0, .oversized),
        BadSnapshot("a DNS mode of 3", dns("03 00 00 0000"), 0x0010, 0, .badValue),
        BadSnapshot("servers without a mode", dns("00" + server.dropFirst(2) + "00 0000"), 0x0010, 0, .nonCanonical),
        BadSnapshot("a mode without servers", dns("02 00 00 0000"), 0x0010, 0, .nonCanonical),
        BadSnapshot("a server at port 0", dns("01 01 04 0a000001 0000 00 00 00 0000"), 0x0010, 0, .nonCanonical),
        BadSnapshot("an upper-case name", dns(server + "01 014100 0000"), 0x0010, 1, .badName),
        BadSnapshot("shell text in a name", dns(server + "01 0724286964293b6100 0000"), 0x0010, 1, .badName),
        BadSnapshot("a NUL in a name", dns(server + "01 0361006200 0000"), 0x0010, 1, .badName),
        BadSnapshot("a line end in a name", dns(server + "00 0001 03610a6200"), 0x0010, 1, .badName),
        BadSnapshot("a name that reads as a number", dns(server + "00 0001 013700"), 0x0010, 1, .badName),
        BadSnapshot("the root as a name", dns(server + "00 0001 00"), 0x0010, 1, .badName),
        BadSnapshot("a name of 254 characters", dns(server + "00 0001" + longName), 0x0010, 1, .badName),
        BadSnapshot("match domains out of order", dns(server + "00 0002 016200 016100"), 0x0010, 1, .unsorted),
        BadSnapshot("a match domain twice", dns(server + "00 0002 016100 016100"), 0x0010, 0, .duplicate),
        BadSnapshot("257 match domains", dns(server + "00 0101"), 0x0010, 0, .tooManyItems),
        BadSnapshot("33 search domains", dns(server + "21"), 0x0010, 0, .tooManyItems),
    ]

    /// 127 labels of one letter and one of two: one more than a name may have.
    private static let longName = String(repeating: "0161", count: 126) + "026161" + "00"
}

@Suite("Bad snapshots are refused")
struct BadSnapshotTests {
    @Test("by the codec, with section, item and reason", arguments: BadSnapshot.all)
    func codec(bad: BadSnapshot) throws {
        let bytes = try bytes(hex: bad.bytes)
        let found = try finding { _ = try Snapshot(canonicalBytes: bytes, limits: .hard) }
        #expect(found == SettingsFinding(section: bad.section, index: bad.index, reason: bad.reason))
    }

    @Test("by a client, which keeps what is in force and says why", arguments: BadSnapshot.all)
    func client(bad: BadSnapshot) throws {
        var policy = PushPolicy()
        policy.source = .pushRequired
        let context = PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0", "::/0"))
        let world = PushWorld(policy: policy, context: context, seed: 5)
        world.publish(try Examples.snapshot(routes: 3).canonicalBytes)
        world.start()
        world.run(seconds: 2)
        let before = world.host
        world.publish(try bytes(hex: bad.bytes))
        world.run(seconds: 20)
        #expect(world.host == before && world.client.confirmed == before)
        let result = try #require(world.results.last)
        #expect(result.version.serial == 2 && result.status == .rejected)
        #expect(result.findings == [SettingsFinding(section: bad.section, index: bad.index, reason: bad.reason)])
        #expect(world.registry.offers == 2, "what is refused for good is not fetched again")
    }

    @Test("by a registry, before they are published")
    func registry() throws {
        func reason(
            addresses: [AssignedAddress] = [], routes: [IPPrefix] = [], dns: DNSOffer? = nil, mtu: UInt16? = nil,
            notice: String? = nil
        ) throws -> SettingsFinding {
            try finding {
                _ = try Snapshot(
                    addresses: addresses, routes: routes, excludes: [], dns: dns, mtu: mtu, notice: notice)
            }
        }
        let route = try Examples.prefixes("10.0.0.0/8")
        #expect(try reason(routes: route + route).reason == .duplicate)
        #expect(try reason(mtu: 68).reason == .badMTU)
        #expect(try reason(notice: "\u{1b}[2J").reason == .badText)
        #expect(try reason(notice: "").reason == .nonCanonical)
        #expect(try reason(notice: String(repeating: "a", count: 513)).reason == .oversized)
        let nine = try (1...9).map { try Examples.assigned("10.0.0.\($0)/32") }
        #expect(try reason(addresses: nine).reason == .tooManyItems)
        let server = DNSServer(address: try Examples.address("10.0.0.1"))
        let name = try Examples.name("corp.example")
        #expect(
            try finding {
                _ = try DNSOffer(mode: .split, servers: [server], searchDomains: [name, name], matchDomains: [])
            }.reason == .duplicate)
        #expect(
            try finding { _ = try DNSOffer(mode: .full, servers: [], searchDomains: [], matchDomains: []) }.reason
                == .nonCanonical)
    }

    @Test("when they are larger than a client takes", arguments: [SnapshotLimits.standard])
    func oversized(limits: SnapshotLimits) throws {
        var policy = PushPolicy()
        policy.source = .pushRequired
        let world = PushWorld(
            policy: policy, context: PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0")), seed: 6)
        world.publish(try Examples.snapshot(routes: 16_000).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        #expect(world.actions.contains(.startFailed(.refused(.oversized))))
        #expect(world.outputs.contains(.refused(.oversized, PushWorld.peer)))
    }

    @Test(
        "and names are what can stand in any file",
        arguments: [
            "", ".", "a..b", "-a.example", "a-.example", "a_b.example", "a b", "a\nb", "a\0b", "$(id)", "`id`", "a;b",
            "\u{e9}.example",
            "1.2.3.4", "10", String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "ab",
        ])
    func names(text: String) {
        #expect(DomainName(text) == nil)
    }

    @Test("while good names keep one spelling")
    func goodNames() throws {
        #expect(DomainName("Corp.Example.")?.text == "corp.example")
        #expect(DomainName("xn--bcher-kva.example")?.text == "xn--bcher-kva.example")
        #expect(DomainName(String(repeating: "a.", count: 126) + "a") != nil)
        let name = try Examples.name("a.corp.example")
        #expect(name.isInside(try Examples.name("corp.example")))
        #expect(!(try Examples.name("evilcorp.example").isInside(try Examples.name("corp.example"))))
    }
}
