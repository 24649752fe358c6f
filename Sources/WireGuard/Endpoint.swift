/// The outer address of a peer: numeric address, UDP port, and a scope for IPv6 link-local addresses.
public struct Endpoint: Sendable, Hashable, BitwiseCopyable, CustomStringConvertible {
    /// The numeric address; IPv4-mapped addresses are kept as IPv4.
    public let address: IPAddress
    /// The UDP port in host byte order.
    public let port: UInt16
    /// The interface index of an IPv6 link-local address, else 0.
    public let scope: UInt32

    /// Makes an endpoint; an IPv4-mapped IPv6 address becomes IPv4.
    public init(_ address: IPAddress, port: UInt16, scope: UInt32) {
        self.address = address.unmapped
        self.port = port
        self.scope = scope
    }

    /// Parses `192.0.2.1:51820`, `[2001:db8::1]:51820` or `[fe80::1%3]:51820`; names are the provider's to resolve.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        guard let port = DecimalField(text[text.index(after: colon)...], maximum: 65_535) else { return nil }
        guard host.first == "[" else {
            guard let address = IPAddress(host), case .v4 = address else { return nil }
            self.init(address, port: UInt16(port.value), scope: 0)
            return
        }
        guard host.last == "]" else { return nil }
        let inner = host.dropFirst().dropLast()
        let parts = inner.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first), case .v6 = address else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            guard let field = DecimalField(parts[1], maximum: .max) else { return nil }
            scope = field.value
        }
        self.init(address, port: UInt16(port.value), scope: scope)
    }

    public var description: String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: scope == 0 ? "[\(address)]:\(port)" : "[\(address)%\(scope)]:\(port)"
        }
    }
}
