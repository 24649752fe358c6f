import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

@Suite("Validation")
struct ValidationTests {
    static func made(_ edit: (inout PacketTunnelNetworkSettings) -> Void) -> PacketTunnelNetworkSettings {
        var value = settings(["10.9.0.2/32"])
        edit(&value)
        return value
    }

    static func ipv4(_ address: String, _ mask: String) -> PacketTunnelNetworkSettings {
        made { $0.ipv4Settings = IPv4Settings(addresses: [address], subnetMasks: [mask]) }
    }

    static func ipv6(_ address: String, _ length: Int) -> PacketTunnelNetworkSettings {
        made { $0.ipv6Settings = IPv6Settings(addresses: [address], networkPrefixLengths: [length]) }
    }

    static let defects: [(PacketTunnelNetworkSettings, SettingsDefect)] = [
        (PacketTunnelNetworkSettings(tunnelRemoteAddress: "x"), .empty),
        (made { $0.ipv4Settings = IPv4Settings(addresses: [], subnetMasks: []) }, .empty),
        (ipv4("10.0.0.300", "255.0.0.0"), .invalidAddress(field: "ipv4Settings.addresses", value: "10.0.0.300")),
        (ipv4("fd00::1", "255.0.0.0"), .invalidAddress(field: "ipv4Settings.addresses", value: "fd00::1")),
        (ipv4("10.0.0.1/8", "255.0.0.0"), .invalidAddress(field: "ipv4Settings.addresses", value: "10.0.0.1/8")),
        (ipv4("0.0.0.0", "255.0.0.0"), .notAHostAddress(field: "ipv4Settings.addresses", value: "0.0.0.0")),
        (ipv4("224.0.0.1", "255.0.0.0"), .notAHostAddress(field: "ipv4Settings.addresses", value: "224.0.0.1")),
        (ipv4("10.0.0.1", "255.0.255.0"), .invalidMask(field: "ipv4Settings.subnetMasks", value: "255.0.255.0")),
        (ipv4("10.0.0.1", "0.0.0.255"), .invalidMask(field: "ipv4Settings.subnetMasks", value: "0.0.0.255")),
        (ipv4("10.0.0.1", "24"), .invalidMask(field: "ipv4Settings.subnetMasks", value: "24")),
        (
            made { $0.ipv4Settings = IPv4Settings(addresses: ["10.0.0.1"], subnetMasks: []) },
            .countMismatch(field: "ipv4Settings.addresses", addresses: 1, masks: 0)
        ),
        (
            made { $0.ipv6Settings = IPv6Settings(addresses: [], networkPrefixLengths: [64]) },
            .countMismatch(field: "ipv6Settings.addresses", addresses: 0, masks: 1)
        ),
        (ipv6("fd00::1", 129), .invalidPrefixLength(field: "ipv6Settings.networkPrefixLengths", value: 129)),
        (ipv6("fd00::1", -1), .invalidPrefixLength(field: "ipv6Settings.networkPrefixLengths", value: -1)),
        (ipv6("10.0.0.1", 64), .invalidAddress(field: "ipv6Settings.addresses", value: "10.0.0.1")),
        (ipv6("fd00::1%eth0", 64), .invalidAddress(field: "ipv6Settings.addresses", value: "fd00::1%eth0")),
        (ipv6("ff02::1", 64), .notAHostAddress(field: "ipv6Settings.addresses", value: "ff02::1")),
        (
            made { $0.ipv4Settings?.includedRoutes = [IPv4Route(destinationAddress: "net", subnetMask: "0.0.0.0")] },
            .invalidAddress(field: "ipv4Settings.includedRoutes", value: "net")
        ),
        (
            made { $0.ipv4Settings?.excludedRoutes = [IPv4Route(destinationAddress: "10.0.0.0", subnetMask: "8")] },
            .invalidMask(field: "ipv4Settings.excludedRoutes", value: "8")
        ),
        (
            made {
                $0.ipv6Settings = IPv6Settings(addresses: ["fd00::1"], networkPrefixLengths: [128])
                $0.ipv6Settings?.includedRoutes = [IPv6Route(destinationAddress: "::", networkPrefixLength: 200)]
            }, .invalidPrefixLength(field: "ipv6Settings.includedRoutes", value: 200)
        ),
        (made { $0.mtu = 575 }, .invalidMTU(575, minimum: 576)),
        (made { $0.mtu = 65_536 }, .invalidMTU(65_536, minimum: 576)),
        (settings(["fd00::2/128"], mtu: 1279), .invalidMTU(1279, minimum: 1280)),
        (settings(["10.9.0.2/32"], include: ["::/0"], mtu: 1000), .invalidMTU(1000, minimum: 1280)),
        (made { $0.tunnelOverheadBytes = -1 }, .invalidOverhead(-1)),
        (made { $0.tunnelOverheadBytes = .max }, .invalidOverhead(.max)),
        (made { $0.routing = .table(0) }, .invalidTable(0)),
        (made { $0.routing = .table(255) }, .invalidTable(255)),
        (made { $0.routing = .table(54_001) }, .invalidTable(54_001)),
    ]

    @Test("each fault is named with its value and what to do", arguments: defects)
    func defect(_ settings: PacketTunnelNetworkSettings, _ defect: SettingsDefect) {
        #expect(throws: defect) { try DesiredState(settings) }
        #expect(defect.errorDomain == "NETunnelProviderErrorDomain" && defect.errorCode == 1)
        #expect(defect.cause.hasSuffix(".") && defect.remedy.hasSuffix("."))
    }

    @Test("host bits are cleared, repeats go, order of addresses stays")
    func normalisation() throws {
        let state = try DesiredState(
            settings(
                ["10.9.0.3/24", "10.9.0.2/24", "10.9.0.3/24"], include: ["10.1.2.3/8", "10.0.0.0/8", "fd00::5/16"]))
        #expect(state.addresses.map { "\($0.address)/\($0.length)" } == ["10.9.0.3/24", "10.9.0.2/24"])
        #expect(state.included.map(\.description) == ["10.0.0.0/8", "fd00::/16"])
    }

    @Test(
        "the MTU is the given one, or the underlay's less the overhead",
        arguments: [
            (1400, nil, 1500, false, 1400), (nil, nil, 1500, false, 1420), (nil, nil, nil, false, 1420),
            (nil, 60, 9000, false, 8940), (1400, 60, 9000, false, 1400), (nil, nil, 1300, true, 1280),
            (nil, nil, 1300, false, 1220), (nil, 1400, 1500, false, 576), (nil, nil, 100_000, false, 65_535),
        ] as [(Int?, Int?, Int?, Bool, Int)])
    func mtu(given: Int?, overhead: Int?, underlay: Int?, ipv6: Bool, expected: Int) throws {
        var value = settings(["10.9.0.2/32"] + (ipv6 ? ["fd00::2/128"] : []), mtu: given)
        value.tunnelOverheadBytes = overhead
        #expect(try DesiredState(value).mtuBytes(underlay: underlay) == expected)
    }

    @Test("the underlay is the interface of the default route, unless the caller knows better")
    func underlay() throws {
        let interface = try InterfaceSettings(interface: "phtun0", effects: ModelSystem(underlayMTU: 1492))
        #expect(try interface.apply(settings(["10.9.0.2/32"])).mtu == 1412)
        #expect(try interface.apply(settings(["10.9.0.3/32"]), underlayMTU: 9000).mtu == 8920)
    }
}
