import Netlink
import ProviderKit

extension DesiredState {
    /// Validates settings; the first fault in the order of the fields is thrown.
    init(_ settings: PacketTunnelNetworkSettings) throws(SettingsDefect) {
        var addresses: [Address] = []
        var included: [IPPrefix] = []
        var excluded: [IPPrefix] = []
        if let ipv4 = settings.ipv4Settings {
            let field = "ipv4Settings.addresses"
            guard ipv4.addresses.count == ipv4.subnetMasks.count else {
                throw .countMismatch(field: field, addresses: ipv4.addresses.count, masks: ipv4.subnetMasks.count)
            }
            for (text, mask) in zip(ipv4.addresses, ipv4.subnetMasks) {
                let length = try Self.maskLength(mask, field: "ipv4Settings.subnetMasks")
                addresses.append(try Self.hostAddress(text, .ipv4, length: length, field: field))
            }
            included += try Self.prefixes(ipv4.includedRoutes, field: "ipv4Settings.includedRoutes")
            excluded += try Self.prefixes(ipv4.excludedRoutes, field: "ipv4Settings.excludedRoutes")
        }
        if let ipv6 = settings.ipv6Settings {
            let field = "ipv6Settings.addresses"
            guard ipv6.addresses.count == ipv6.networkPrefixLengths.count else {
                throw .countMismatch(
                    field: field, addresses: ipv6.addresses.count, masks: ipv6.networkPrefixLengths.count)
            }
            for (text, length) in zip(ipv6.addresses, ipv6.networkPrefixLengths) {
                guard (0...128).contains(length) else {
                    throw .invalidPrefixLength(field: "ipv6Settings.networkPrefixLengths", value: length)
                }
                addresses.append(try Self.hostAddress(text, .ipv6, length: length, field: field))
            }
            included += try Self.prefixes(ipv6.includedRoutes, field: "ipv6Settings.includedRoutes")
            excluded += try Self.prefixes(ipv6.excludedRoutes, field: "ipv6Settings.excludedRoutes")
        }
        guard !addresses.isEmpty || !included.isEmpty else { throw .empty }
        if case .table(let number) = settings.routing {
            guard number != 0, number != Route.localTable, !PolicySlot.tables.contains(number) else {
                throw .invalidTable(number)
            }
        }
        var seen: Set<Address> = []
        self.addresses = addresses.filter { seen.insert($0).inserted }
        self.included = Set(included).sorted()
        self.excluded = Set(excluded).sorted()
        routing = settings.routing
        hasDNS = settings.dnsSettings != nil
        resolver = nil
        mtu = .underlay(overhead: Self.defaultOverhead)
        try setMTU(settings)
        if let dns = settings.dnsSettings {
            let hasDefaultRoute = AddressFamily.allCases.contains { family in
                PolicyLayout.holdsDefault(self.included.filter { $0.family == family })
            }
            resolver = try ResolverConfiguration(dns, hasDefaultRoute: hasDefaultRoute)
        }
    }

    private mutating func setMTU(_ settings: PacketTunnelNetworkSettings) throws(SettingsDefect) {
        if let bytes = settings.mtu {
            let minimum = usesIPv6 ? 1280 : 576
            guard (minimum...65_535).contains(bytes) else { throw .invalidMTU(bytes, minimum: minimum) }
            mtu = .bytes(bytes)
        } else if let overhead = settings.tunnelOverheadBytes {
            guard (0...65_535 - 576).contains(overhead) else { throw .invalidOverhead(overhead) }
            mtu = .underlay(overhead: overhead)
        }
    }

    private static func address(_ text: String, _ family: AddressFamily, field: String) throws(SettingsDefect)
        -> IPAddress
    {
        guard let address = IPAddress(text), address.family == family else {
            throw .invalidAddress(field: field, value: text)
        }
        return address
    }

    private static func hostAddress(
        _ text: String, _ family: AddressFamily, length: Int, field: String
    ) throws(SettingsDefect) -> Address {
        let address = try address(text, family, field: field)
        guard address != .unspecified(family), !address.isMulticast else {
            throw .notAHostAddress(field: field, value: text)
        }
        return Address(address: address, length: length)
    }

    /// The length of a contiguous mask in dotted decimal.
    private static func maskLength(_ text: String, field: String) throws(SettingsDefect) -> Int {
        guard let mask = IPAddress(text), mask.family == .ipv4 else { throw .invalidMask(field: field, value: text) }
        let bits = UInt32(truncatingIfNeeded: mask.bits >> 96)
        let length = (~bits).leadingZeroBitCount
        guard bits.nonzeroBitCount == length else { throw .invalidMask(field: field, value: text) }
        return length
    }

    /// Host bits in a destination are cleared, as Network Extension does.
    private static func prefixes(_ routes: [IPv4Route]?, field: String) throws(SettingsDefect) -> [IPPrefix] {
        var prefixes: [IPPrefix] = []
        for route in routes ?? [] {
            let length = try maskLength(route.destinationSubnetMask, field: field)
            let address = try address(route.destinationAddress, .ipv4, field: field)
            if let prefix = IPPrefix(address, length: length) { prefixes.append(prefix) }
        }
        return prefixes
    }

    private static func prefixes(_ routes: [IPv6Route]?, field: String) throws(SettingsDefect) -> [IPPrefix] {
        var prefixes: [IPPrefix] = []
        for route in routes ?? [] {
            let length = route.destinationNetworkPrefixLength
            let address = try address(route.destinationAddress, .ipv6, field: field)
            guard let prefix = IPPrefix(address, length: length) else {
                throw .invalidPrefixLength(field: field, value: length)
            }
            prefixes.append(prefix)
        }
        return prefixes
    }
}
