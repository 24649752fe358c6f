import DNS
import ProviderKit
import WireGuard

/// Resolves names outside of the tunnel, before it is up and while it is: its sockets are marked as those of the tunnel's own
/// packets, so neither routes nor a kill switch hold them back, and nothing but its questions leaves.
///
/// The answers prove nothing and need not: whoever answers handshakes has the peer's key. Questions go out in clear text.
struct OutsideResolver: ~Copyable {
    /// How long a server may take.
    private static let patience = TimeSpan.seconds(1)
    /// How often each server is asked.
    private static let rounds = 2

    private let sockets: OutsideSockets
    private let files: NameFiles
    private let servers: [IPAddress]

    /// Takes over sockets of the host.
    ///
    /// - Parameters:
    ///   - opened: Marked sockets, one for each family that is there.
    ///   - inside: The tunnel's own name servers, which are not asked.
    init(_ opened: UDPSockets, except inside: [IPAddress]) {
        let files = NameFiles.system
        self.files = files
        servers = files.servers(except: inside)
        sockets = OutsideSockets(opened)
    }

    /// Finds the addresses of a name; blocks for a few seconds at most.
    ///
    /// - Returns: Those that there is a way to come first; at least one.
    /// - Throws: `VPNConnectionError` with `serverAddressResolutionFailed`, which says who was asked.
    func resolve(_ host: String) throws(VPNConnectionError) -> [IPAddress] {
        let known = sockets.usable(files.addresses(of: host))
        guard known.isEmpty else { return known }
        guard !servers.isEmpty else {
            throw Self.failure(host, "no name server outside of the tunnel is known", servers)
        }
        for _ in 0..<Self.rounds {
            for server in servers where sockets.canReach(server) {
                switch ask(server, host) {
                case .addresses(let found):
                    let addresses = found.compactMap { bytes in
                        let address = IPAddress(bytes: bytes)
                        return address
                    }
                    let usable = sockets.usable(addresses)
                    guard usable.isEmpty else { return usable }
                    throw Self.failure(host, "it has no address that this machine can use", [server])
                case .noSuchName: throw Self.failure(host, "there is no such name", [server])
                case .failed: continue
                }
            }
        }
        throw Self.failure(host, "no name server outside of the tunnel answered", servers)
    }

    /// Asks one server for the addresses of both families, IPv6 first as RFC 6724 has it.
    private func ask(_ server: IPAddress, _ host: String) -> DNSAnswer {
        let types: [DNSQuestion.AddressType] = (sockets.hasIPv6 ? [.ipv6] : []) + (sockets.hasIPv4 ? [.ipv4] : [])
        var open = types.compactMap { DNSQuestion(host, $0, identifier: UInt16.random(in: 0...UInt16.max)) }
        for question in open { sockets.send(question.bytes, to: server) }
        var found: [DNSQuestion.AddressType: [[UInt8]]] = [:]
        let deadline = Clock.now() + Self.patience
        while !open.isEmpty, let datagram = sockets.receive(from: server, until: deadline) {
            guard let index = open.firstIndex(where: { $0.answer(in: datagram) != nil }) else { continue }
            let question = open.remove(at: index)
            switch question.answer(in: datagram) {
            case .addresses(let addresses)?: found[question.type] = addresses
            case .noSuchName?: return .noSuchName
            case .failed?, nil: break
            }
        }
        let addresses = types.flatMap { found[$0] ?? [] }
        // That there are none counts only once all questions are answered.
        return addresses.isEmpty && found.count < types.count ? .failed : .addresses(addresses)
    }

    private static func failure(_ host: String, _ reason: String, _ asked: [IPAddress]) -> VPNConnectionError {
        let list = asked.map(\.description).joined(separator: ", ")
        return VPNConnectionError(
            .serverAddressResolutionFailed,
            cause: "The endpoint \(host) did not resolve: \(reason)\(list.isEmpty ? "" : " (asked: \(list))").",
            remedy: "Check the name, and the servers in /etc/resolv.conf; or give an address in the configuration.")
    }
}
