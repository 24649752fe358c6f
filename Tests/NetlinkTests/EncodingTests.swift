import Testing

@testable import Netlink

/// Messages byte for byte, for a little-endian machine (linux/netlink.h, rtnetlink.h, if_addr.h, fib_rules.h).
@Suite("Message bytes", .enabled(if: 1.littleEndian == 1, "written for little-endian machines"))
struct EncodingTests {
    static func prefix(_ text: String) -> IPPrefix { IPPrefix(text) ?? .everything(.ipv4) }
    static func address(_ text: String) -> IPAddress { IPAddress(text) ?? .unspecified(.ipv4) }

    static let requests: [(Request, String)] = [
        (
            .addRoute(
                Route(prefix("10.20.0.0/16"), interface: 7, table: 54000, protocolNumber: 120)),
            """
            34000000 1800 0506 05000000 00000000 ; length 52, RTM_NEWROUTE, REQUEST|ACK|EXCL|CREATE, sequence 5, port
            02 10 00 00 00 78 fd 01 00000000     ; AF_INET, /16, table in attribute, protocol 120, scope link, unicast
            0800 0100 0a140000                   ; RTA_DST
            0800 0f00 f0d20000                   ; RTA_TABLE 54000
            0800 0400 07000000                   ; RTA_OIF 7
            """
        ),
        (
            .replaceRoute(
                Route(
                    .everything(.ipv6), kind: .unreachable, table: 254, metric: 4_278_198_272, protocolNumber: 2)),
            """
            2c000000 1800 0505 05000000 00000000 ; RTM_NEWROUTE, REQUEST|ACK|REPLACE|CREATE
            0a 00 00 00 fe 02 00 07 00000000     ; AF_INET6, /0, table 254, protocol kernel, universe, unreachable
            0800 0f00 fe000000                   ; RTA_TABLE
            0800 0600 002000ff                   ; RTA_PRIORITY 4278198272
            """
        ),
        (
            .deleteRoute(
                Route(prefix("192.168.1.0/24"), kind: .throw, table: 54001, protocolNumber: 120)),
            """
            2c000000 1900 0500 05000000 00000000 ; RTM_DELROUTE, REQUEST|ACK
            02 18 00 00 00 78 00 09 00000000     ; AF_INET, /24, protocol 120, universe, throw
            0800 0100 c0a80100                   ; RTA_DST
            0800 0f00 f1d20000                   ; RTA_TABLE 54001
            """
        ),
        (
            .addAddress(InterfaceAddress(interface: 3, address: address("10.9.0.2"), prefixLength: 32)),
            """
            28000000 1400 0505 05000000 00000000 ; RTM_NEWADDR, REQUEST|ACK|REPLACE|CREATE
            02 20 00 00 03000000                 ; AF_INET, /32, flags, scope, interface 3
            0800 0200 0a090002                   ; IFA_LOCAL
            0800 0100 0a090002                   ; IFA_ADDRESS
            """
        ),
        (
            .addAddress(InterfaceAddress(interface: 3, address: address("fd00::2"), prefixLength: 128)),
            """
            48000000 1400 0505 05000000 00000000 ; RTM_NEWADDR
            0a 80 00 00 03000000                 ; AF_INET6, /128, interface 3
            1400 0200 fd000000000000000000000000000002 ; IFA_LOCAL
            1400 0100 fd000000000000000000000000000002 ; IFA_ADDRESS
            0800 0800 02000000                   ; IFA_FLAGS IFA_F_NODAD
            """
        ),
        (
            .addRule(
                Rule(family: .ipv4, priority: 5400, mark: 0x7068_0000, action: .lookup(254), protocolNumber: 2)),
            """
            44000000 2000 0506 05000000 00000000 ; RTM_NEWRULE, REQUEST|ACK|EXCL|CREATE
            02 00 00 00 00 00 00 01 00000000     ; AF_INET, lengths, TOS, table, reserved, FR_ACT_TO_TBL, flags
            0800 0600 18150000                   ; FRA_PRIORITY 5400
            0800 0a00 00006870                   ; FRA_FWMARK
            0800 1000 ffffffff                   ; FRA_FWMASK
            0800 0f00 fe000000                   ; FRA_TABLE 254
            0500 1500 02 000000                  ; FRA_PROTOCOL kernel, padding
            """
        ),
        (
            .deleteRule(Rule(family: .ipv6, priority: 5402, action: .unreachable, protocolNumber: 2)),
            """
            2c000000 2100 0500 05000000 00000000 ; RTM_DELRULE, REQUEST|ACK
            0a 00 00 00 00 00 00 07 00000000     ; AF_INET6, FR_ACT_UNREACHABLE
            0800 0600 1a150000                   ; FRA_PRIORITY 5402
            0500 1500 02 000000                  ; FRA_PROTOCOL
            """
        ),
        (
            .setLink(9, .mtu(1420)),
            """
            28000000 1300 0500 05000000 00000000 ; RTM_SETLINK, REQUEST|ACK
            00 00 0000 09000000 00000000 00000000 ; family, type, interface 9, flags, change
            0800 0400 8c050000                   ; IFLA_MTU 1420
            """
        ),
        (
            .setLink(9, .up(true)),
            """
            20000000 1300 0500 05000000 00000000 ; RTM_SETLINK
            00 00 0000 09000000 01000000 01000000 ; flags IFF_UP, change IFF_UP
            """
        ),
        (
            .setLink(9, .addressGeneration(.none)),
            """
            30000000 1300 0500 05000000 00000000 ; RTM_SETLINK
            00 00 0000 09000000 00000000 00000000
            1000 1a00                            ; IFLA_AF_SPEC
              0c00 0a00                          ; AF_INET6
                0500 0800 01 000000              ; IFLA_INET6_ADDR_GEN_MODE none
            """
        ),
        (
            .deleteLink(9),
            """
            20000000 1100 0500 05000000 00000000 ; RTM_DELLINK
            00 00 0000 09000000 00000000 00000000
            """
        ),
    ]

    @Test("requests", arguments: requests)
    func request(_ request: Request, expected: String) {
        var builder = MessageBuilder()
        request.append(sequence: 5, to: &builder)
        #expect(dump(builder.bytes) == dump(hex(expected)))
    }

    static let queries: [(Query, String)] = [
        (
            .routes(.ipv4, table: 54000),
            """
            24000000 1a00 0103 05000000 00000000 ; RTM_GETROUTE, REQUEST|DUMP
            02 00 00 00 00 00 00 00 00000000
            0800 0f00 f0d20000                   ; RTA_TABLE
            """
        ),
        (
            .lookup(address("1.1.1.1"), mark: 1, source: nil, interface: nil),
            """
            2c000000 1a00 0100 05000000 00000000 ; RTM_GETROUTE, REQUEST
            02 20 00 00 00 00 00 00 00100000     ; /32, RTM_F_LOOKUP_TABLE
            0800 0100 01010101                   ; RTA_DST
            0800 1000 01000000                   ; RTA_MARK
            """
        ),
        (
            .linkNamed("lo"),
            """
            28000000 1200 0100 05000000 00000000 ; RTM_GETLINK, REQUEST
            00 00 0000 00000000 00000000 00000000
            0700 0300 6c6f00 00                  ; IFLA_IFNAME "lo", NUL, padding
            """
        ),
        (
            .rules(.ipv6),
            """
            1c000000 2200 0103 05000000 00000000 ; RTM_GETRULE, REQUEST|DUMP
            0a 00 00 00 00 00 00 00 00000000
            """
        ),
    ]

    @Test("queries", arguments: queries)
    func query(_ query: Query, expected: String) {
        var builder = MessageBuilder()
        query.append(sequence: 5, to: &builder)
        #expect(dump(builder.bytes) == dump(hex(expected)))
    }

    @Test("what no message can say is refused before it is sent")
    func defects() {
        #expect(Request.setLink(1, .alias(String(repeating: "x", count: 256))).defect != nil)
        #expect(Request.setLink(1, .mtu(-1)).defect != nil)
        #expect(Request.setLink(1, .transmitQueueLength(1 << 40)).defect != nil)
        let address = InterfaceAddress(interface: 1, address: Self.address("10.0.0.1"), prefixLength: 33)
        #expect(Request.addAddress(address).defect != nil)
        #expect(Request.setLink(1, .mtu(1420)).defect == nil)
    }
}
