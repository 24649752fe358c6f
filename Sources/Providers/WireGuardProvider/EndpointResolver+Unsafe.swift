import Glibc
import ProviderKit
import WireGuard

/// Turns the endpoint of a configuration into a numeric one.
enum EndpointResolver {
    /// Resolves a peer's endpoint; blocks for as long as that takes.
    ///
    /// The system's resolver knows more ways than we do. Where its questions may not leave, or where it gives no answer (it
    /// may ask through the very tunnel that is to be made), names are asked for outside of the tunnel.
    ///
    /// - Parameters:
    ///   - endpoint: What the configuration says.
    ///   - ipv4: Whether there is an IPv4 socket; without one such addresses are of no use.
    ///   - ipv6: Whether there is an IPv6 socket.
    ///   - outside: Asks outside of the tunnel.
    ///   - isGuarded: Whether nothing else may leave.
    /// - Returns: The addresses that a socket is there for, in the order in which they are tried; at least one.
    /// - Throws: `VPNConnectionError` with `serverAddressResolutionFailed`, which names the host and the reason.
    static func resolve(
        _ endpoint: Configuration.PeerEndpoint, ipv4: Bool, ipv6: Bool, outside: borrowing OutsideResolver,
        isGuarded: Bool
    ) throws -> [Endpoint] {
        guard case .name(let host, let port) = endpoint, !host.contains(":") else {
            return try resolve(endpoint, ipv4: ipv4, ipv6: ipv6)
        }
        if !isGuarded, let found = try? lookUp(host, port: port, ipv4: ipv4, ipv6: ipv6) { return found }
        return try outside.resolve(host).map { Endpoint($0, port: port, scope: 0) }
    }

    /// Resolves a peer's endpoint with the system's resolver; blocks for as long as that takes.
    ///
    /// - Parameters:
    ///   - endpoint: What the configuration says.
    ///   - ipv4: Whether there is an IPv4 socket; without one such addresses are of no use.
    ///   - ipv6: Whether there is an IPv6 socket.
    /// - Returns: The addresses that a socket is there for, in the order in which they are tried; at least one.
    /// - Throws: `VPNConnectionError` with `serverAddressResolutionFailed`, which names the host and the resolver's text.
    static func resolve(_ endpoint: Configuration.PeerEndpoint, ipv4: Bool, ipv6: Bool) throws -> [Endpoint] {
        switch endpoint {
        case .address(let numeric): return [numeric]
        case .name(let host, let port): return try lookUp(host, port: port, ipv4: ipv4, ipv6: ipv6)
        }
    }

    private static func lookUp(_ host: String, port: UInt16, ipv4: Bool, ipv6: Bool) throws -> [Endpoint] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = ipv4 && ipv6 ? AF_UNSPEC : (ipv6 ? AF_INET6 : AF_INET)
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, "\(port)", &hints, &list)
        guard status == 0, let first = unsafe list else {
            let text =
                unsafe status == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(status))
            throw VPNConnectionError(
                .serverAddressResolutionFailed, cause: "The endpoint \(host) did not resolve: \(text).",
                remedy: "Check the name in the configuration, and the resolver of this machine.")
        }
        defer { unsafe freeaddrinfo(first) }
        // getaddrinfo orders by RFC 6724, so the first usable address is the one to take.
        var found: [Endpoint] = []
        var entry: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let current = unsafe entry {
            if let endpoint = unsafe Endpoint(current.pointee.ai_addr) { found.append(endpoint) }
            unsafe entry = unsafe current.pointee.ai_next
        }
        guard found.isEmpty else { return found }
        throw VPNConnectionError(
            .serverAddressResolutionFailed, cause: "The endpoint \(host) resolves to no IP address.",
            remedy: "Check the name in the configuration.")
    }
}

extension Endpoint {
    /// Reads a socket address of the resolver; nil for other families.
    @unsafe init?(_ address: UnsafeMutablePointer<sockaddr>) {
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            // SAFETY: the family says which structure lies there (getaddrinfo(3)).
            let ipv4 = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            self.init(.v4(UInt32(bigEndian: ipv4.sin_addr.s_addr)), port: UInt16(bigEndian: ipv4.sin_port), scope: 0)
        case AF_INET6:
            // SAFETY: as above.
            let ipv6 = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            let value = unsafe UInt128(bigEndian: unsafeBitCast(ipv6.sin6_addr, to: UInt128.self))
            self.init(.v6(value), port: UInt16(bigEndian: ipv6.sin6_port), scope: ipv6.sin6_scope_id)
        default:
            return nil
        }
    }
}
