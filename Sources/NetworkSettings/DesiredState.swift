import Netlink
import ProviderKit

/// Settings after validation: nothing in them can be malformed any more.
struct DesiredState: Equatable {
    /// How the MTU is found.
    enum MTU: Hashable {
        case bytes(Int)
        /// That of the underlay's interface less so many bytes.
        case underlay(overhead: Int)
    }

    /// An address of the interface with its on-link network's length.
    struct Address: Hashable {
        var address: IPAddress
        var length: Int
    }

    var mtu: MTU
    /// In the order given, without repeats: the first of a family is the preferred source.
    var addresses: [Address]
    /// Sorted, without repeats, host bits cleared.
    var included: [IPPrefix]
    var excluded: [IPPrefix]
    var routing: PacketTunnelNetworkSettings.Routing
    /// Nil also for DNS settings without a server.
    var resolver: ResolverConfiguration?
    /// Whether there are DNS settings.
    var hasDNS: Bool

    /// The bytes that WireGuard adds at most: IPv6 40, UDP 8, header 16, tag 16.
    static let defaultOverhead = 80
    /// The underlay's MTU where there is no default route to ask.
    static let fallbackUnderlayMTU = 1500

    /// Whether anything of IPv6 is wanted, which raises the smallest MTU to 1280 (RFC 8200 section 5).
    var usesIPv6: Bool {
        addresses.contains { $0.address.family == .ipv6 } || included.contains { $0.family == .ipv6 }
    }

    /// Leaves networks outside the tunnel that it would otherwise hold; only a table of the tunnel's own can do that.
    mutating func exclude(_ networks: [IPPrefix]) {
        guard routing.isAutomatic else { return }
        excluded = Set(excluded + networks).sorted()
    }

    /// The smallest MTU that is derived: below it a family does not work (RFC 8200 section 5, RFC 791).
    var leastMTU: Int { usesIPv6 ? 1280 : 576 }

    /// The MTU in bytes; a derived one is kept within what the families need.
    func mtuBytes(underlay: Int?) -> Int {
        switch mtu {
        case .bytes(let bytes): bytes
        case .underlay(let overhead):
            min(65_535, max(leastMTU, (underlay ?? Self.fallbackUnderlayMTU) - overhead))
        }
    }
}

extension DesiredState.Routing {
    /// Whether the routes go to a table of the tunnel's own, with rules.
    var isAutomatic: Bool { self == .automatic }
}

extension DesiredState {
    typealias Routing = PacketTunnelNetworkSettings.Routing
}
