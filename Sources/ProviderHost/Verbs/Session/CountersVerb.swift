internal import Control
internal import HostRuntime
internal import ProviderKit

/// `counters`: what the interfaces of the tunnels carried.
enum CountersVerb {
    static let command = Command(
        name: "counters",
        summary: "Show what the interface of a tunnel carried, and what its provider counts of each peer.",
        positionals: [.init(name: "NAME", isRequired: false)], options: [.json],
        discussion: """
            The figures are the kernel's 64-bit counters of the interface: estimates of the traffic inside the tunnel. The
            outer network carried the tunnel's own headers besides. They begin at zero with every new interface; `epoch`
            is another one then. Below them stands what the provider counts of each peer, where it does.
            """
    ) { arguments, console in
        let access = try ProfileAccess()
        let named = try arguments.positionals.first.map { try access.manager(named: $0) }
        let managers = try named.map { [$0] } ?? access.all().filter { $0.connection.interfaceName != nil }
        for manager in managers {
            let counters = try Waiting.run { try await manager.connection.counters() }
            if arguments.wantsJSON {
                console.print(json: Object(name: manager.localizedDescription, counters: counters))
            } else {
                console.print(
                    "\((manager.localizedDescription ?? manager.identifier).printable) \(counters.interface)"
                        + " received \(counters.receivedBytes) B in \(counters.receivedPackets) packets,"
                        + " sent \(counters.sentBytes) B in \(counters.sentPackets) packets"
                        + " (estimates of inner traffic)")
                for peer in counters.peers {
                    let figures = peer.values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    console.print("  peer \(peer.name.printable) \(figures.joined(separator: ", ").printable)")
                }
                if counters.omittedPeers > 0 { console.print("  and \(counters.omittedPeers) more peers") }
            }
        }
        return .success
    }

    /// The object of `--json`.
    private struct Object: Encodable {
        let name: String?
        let counters: Counters

        private enum Key: String, CodingKey { case schema, name }

        func encode(to encoder: any Encoder) throws {
            try counters.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Report.schema, forKey: .schema)
            try container.encode(name, forKey: .name)
        }
    }
}
