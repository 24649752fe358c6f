import Testing

@testable import Netlink

@Suite("Decoding", .enabled(if: 1.littleEndian == 1, "written for little-endian machines"))
struct DecodingTests {
    @Test(
        "a route, rule or address that was encoded decodes to itself",
        arguments: EncodingTests.requests.map(\.0))
    func roundTrip(_ request: Request) throws {
        var builder = MessageBuilder()
        request.append(sequence: 1, to: &builder)
        let message = try #require(Message.split(builder.bytes[...]).first)
        switch request {
        case .addAddress(let address), .deleteAddress(let address): #expect(InterfaceAddress(message) == address)
        case .addRoute(let route), .replaceRoute(let route), .deleteRoute(let route): #expect(Route(message) == route)
        case .addRule(let rule), .deleteRule(let rule): #expect(Rule(message) == rule)
        case .setLink, .deleteLink: #expect(Link(message) == nil, "a link without a name is no link")
        }
    }

    @Test("a multipath route reports its first hop")
    func multipath() throws {
        let bytes = hex(
            """
            48000000 1800 0200 01000000 00000000
            02 00 00 00 fe 03 00 01 00000000     ; default, main, boot, unicast
            0800 0f00 fe000000                   ; RTA_TABLE
            2400 0900                            ; RTA_MULTIPATH
              1000 00 00 04000000                ; 16 bytes, interface 4
                0800 0500 c0000201               ; RTA_GATEWAY
              1000 00 00 05000000
                0800 0500 c0000202
            """)
        let route = try #require(Message.split(bytes[...]).first.flatMap { Route($0) })
        #expect(route.interface == 4)
        #expect(route.gateway?.description == "192.0.2.1")
    }

    @Test("an error carries errno and the kernel's sentence, capped or not")
    func extendedAcknowledgement() throws {
        let capped = hex(
            """
            2c000000 0200 0003 01000000 00000000 ; NLMSG_ERROR, CAPPED|ACK_TLVS
            eaffffff                             ; -22
            20000000 1800 0500 01000000 00000000 ; header of the request, payload left out
            0700 0100 6e6f00 00                  ; NLMSGERR_ATTR_MSG "no"
            """)
        let whole = hex(
            """
            30000000 0200 0002 01000000 00000000 ; NLMSG_ERROR, ACK_TLVS
            eaffffff
            14000000 1800 0500 01000000 00000000 ; header of the request
            aabbccdd                             ; its payload
            0700 0100 6e6f00 00
            """)
        for bytes in [capped, whole] {
            let content = try #require(Message.split(bytes[...]).first).errorContent
            #expect(content.code == 22)
            #expect(content.text == "no")
        }
    }

    @Test("truncated and lying messages never trap")
    func mutations() throws {
        var seeds = EncodingTests.requests.map { request, _ in
            var builder = MessageBuilder()
            request.append(sequence: 1, to: &builder)
            return builder.bytes
        }
        seeds.append(hex("24000000 0200 0003 01000000 00000000 00000080 ffffffff 0000 0000 0000 0000 0000 0000"))
        var random = SplitMix64(state: 2)
        var decoded = 0
        for seed in seeds {
            for _ in 0..<2000 {
                var bytes = seed
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random))
                for message in Message.split(bytes[...]) {
                    decoded +=
                        [
                            Link(message) == nil, InterfaceAddress(message) == nil, Route(message) == nil,
                            Rule(message) == nil, message.errorContent.text == nil,
                        ].filter { !$0 }.count
                }
            }
        }
        #expect(decoded > 0, "some mutants must reach the decoders' ends, or nothing was tried")
    }

    @Test("errors say what was asked, why, and what to do")
    func errorText() {
        let error = NetlinkError(code: 22, kernelMessage: "mtu too big", request: "set mtu 99999 of interface 3")
        #expect(
            error.description
                == "set mtu 99999 of interface 3: Invalid argument (mtu too big). See the kernel log for details.")
        #expect(NetlinkError(code: 13, request: "x", family: .ipv6).kind == .ipv6Unavailable)
        #expect(NetlinkError(code: 13, request: "x", family: .ipv4).kind == .notPermitted)
        #expect(NetlinkError(code: 1, request: "x", family: .ipv6).kind == .notPermitted)
    }
}

/// A seeded generator, so that a failing mutant comes back.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
