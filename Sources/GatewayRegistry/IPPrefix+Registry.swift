public import ProviderKit
public import WireGuard

extension IPPrefix {
    /// Parses a network as an operator writes it: an address alone stands for itself, host bits are refused.
    ///
    /// - Throws: ``RegistryErrorCode/invalidPrefix`` that shows the network that was probably meant.
    public static func strict(_ text: String) throws(RegistryError) -> IPPrefix {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let prefix = IPPrefix(text), let address = parts.first.flatMap({ IPAddress($0) }) else {
            throw RegistryError(
                .invalidPrefix, cause: "`\(text.excerpt)` is no network.",
                remedy: "Write an address and a length, such as 10.0.0.0/8 or fd00::/8.")
        }
        let network = prefix.address
        guard network == address else {
            throw RegistryError(
                .invalidPrefix, cause: "`\(text.excerpt)` has bits beyond its length.",
                remedy: "Write \(prefix) for the network, or \(address) for the one address.")
        }
        return prefix
    }

    /// Whether the two networks have an address in common: one holds the other.
    func overlaps(_ other: IPPrefix) -> Bool {
        let (first, second) = (address, other.address)
        return length <= other.length ? contains(second) : other.contains(first)
    }

    /// Whether every address of the other network is one of this.
    func covers(_ other: IPPrefix) -> Bool {
        let network = other.address
        return length <= other.length && contains(network)
    }

    /// The order of listings and of the wire: IPv4 first, then by address, then by length.
    func precedes(_ other: IPPrefix) -> Bool {
        switch (address, other.address) {
        case (.v4(let left), .v4(let right)): (left, length) < (right, other.length)
        case (.v6(let left), .v6(let right)): (left, length) < (right, other.length)
        case (.v4, .v6): true
        case (.v6, .v4): false
        }
    }

    /// Refuses what no client would accept: networks that mean the host itself, its link, or a group.
    ///
    /// - Throws: ``RegistryErrorCode/invalidPrefix``.
    func requireRoutable() throws(RegistryError) {
        guard let refused = Self.neverRouted.first(where: { $0.prefix.covers(self) }) else { return }
        throw RegistryError(
            .invalidPrefix, cause: "\(self) is \(refused.kind), which no client routes into a tunnel.",
            remedy: "Give a network of hosts.")
    }

    private static let neverRouted: [(prefix: IPPrefix, kind: String)] = [
        ("0.0.0.0/8", "the unspecified network"), ("127.0.0.0/8", "loopback"), ("169.254.0.0/16", "link-local"),
        ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"), ("::/128", "the unspecified address"),
        ("::1/128", "loopback"), ("::ffff:0:0/96", "IPv4 in the form of IPv6"), ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
    ].compactMap { text, kind in IPPrefix(text).map { ($0, kind) } }
}

extension IPAddress {
    /// The network of the address alone.
    var hostPrefix: IPPrefix? { IPPrefix(self, length: bitWidth) }

    /// Whether the address is one of IPv4.
    var isIPv4: Bool {
        switch self {
        case .v4: true
        case .v6: false
        }
    }
}

extension String {
    /// At most 80 characters, control characters replaced: fit for a message.
    var excerpt: String {
        String(
            String.UnicodeScalarView(unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7f ? "?" : $0 }))
    }
}
