import WireGuard

/// Rule 2: ranges that no tunnel may take, whatever a profile says.
enum NeverAllowed {
    private static let ranges: [(prefix: String, reason: ReasonCode)] = [
        ("127.0.0.0/8", .loopback), ("0.0.0.0/8", .unspecified), ("224.0.0.0/4", .multicast),
        ("169.254.0.0/16", .linkLocal), ("240.0.0.0/4", .reserved), ("::1/128", .loopback), ("::/128", .unspecified),
        ("ff00::/8", .multicast), ("fe80::/10", .linkLocal), ("::ffff:0:0/96", .mappedIPv4),
    ]

    /// RFC 5737, RFC 3849, RFC 9637.
    private static let documentation = [
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20",
    ]

    private static let parsedRanges = ranges.compactMap { range in
        IPPrefix(range.prefix).map { (prefix: $0, reason: range.reason) }
    }
    private static let parsedDocumentation = documentation.compactMap { IPPrefix($0) }

    /// Why a network can be neither a route nor an exclusion.
    static func reason(against prefix: IPPrefix, controlAddresses: [IPAddress]) -> ReasonCode? {
        guard prefix.length > 0 else { return nil }
        // The halves of a family cover the control addresses as a default route does, and take nothing from them either.
        if prefix.length > 1, controlAddresses.contains(where: prefix.contains) { return .controlAddress }
        return parsedRanges.first { $0.prefix.covers(prefix) }?.reason
    }

    /// Why an address can be neither the tunnel's nor a resolver's.
    static func reason(against address: IPAddress) -> ReasonCode? {
        parsedRanges.first { $0.prefix.contains(address) }?.reason
    }

    /// Why an address cannot be the tunnel's.
    static func reason(againstOwn address: IPAddress) -> ReasonCode? {
        reason(against: address) ?? (parsedDocumentation.contains { $0.contains(address) } ? .documentation : nil)
    }
}
