import WireGuard

/// The files in which a machine says which name servers it asks, and which names it knows itself.
struct NameFiles: Sendable {
    /// More servers than these are not asked.
    private static let serverLimit = 4

    /// hosts(5).
    var hosts: String
    /// resolv.conf(5) as programs see it.
    var current: String
    /// The file that the host keeps while one of its own takes the place; nil while that is not so.
    var kept: String?
    /// The servers beyond the stub of systemd-resolved; nil where that does not run.
    var uplink: String?

    /// The servers outside of the tunnel, in the order in which they are asked.
    ///
    /// A server on the machine itself comes last: it asks others with sockets of its own, which a kill switch holds back.
    /// Those `inside` of the tunnel are left out, since they cannot be reached beside it.
    func servers(except inside: [IPAddress]) -> [IPAddress] {
        var found: [IPAddress] = []
        for server in Self.servers(in: kept ?? current) + Self.servers(in: uplink ?? "")
        where !found.contains(server) && !inside.contains(server) {
            found.append(server)
        }
        return Array((found.filter { !$0.isLoopback } + found.filter(\.isLoopback)).prefix(Self.serverLimit))
    }

    /// The addresses that the machine itself knows for a name.
    func addresses(of host: String) -> [IPAddress] {
        let wanted = host.lowercased()
        return hosts.split(separator: "\n").compactMap { line -> IPAddress? in
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard words.dropFirst().contains(where: { $0.lowercased() == wanted }) else { return nil }
            let address = IPAddress(words[0])
            return address
        }
    }

    private static func servers(in text: String) -> [IPAddress] {
        text.split(separator: "\n").compactMap { line -> IPAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            let address = IPAddress(words[1])
            return address
        }
    }
}

extension IPAddress {
    /// Whether the address is the machine itself.
    fileprivate var isLoopback: Bool {
        switch self {
        case .v4(let value): value >> 24 == 127
        case .v6(let value): value == 1
        }
    }
}
