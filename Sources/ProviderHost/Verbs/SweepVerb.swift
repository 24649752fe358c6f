internal import HostRuntime

/// `sweep`: removes what tunnels that were killed have left behind.
enum SweepVerb {
    static let command = Command(
        name: "sweep", summary: "Remove what tunnels whose process was killed have left behind.", options: [.json],
        discussion: """
            Removes rules, routes, tables of the packet filter, DNS settings, control sockets and network
            namespaces of ours whose interface is gone, and turns forwarding off that only they needed. A tunnel
            that runs is not touched. Nothing is remembered between runs: everything of ours can be told by its
            name or number.

            This also ends the kill switch that a killed tunnel left in force.
            """
    ) { arguments, console in
        let sweep = try LeftoverSweep()
        if arguments.wantsJSON {
            console.print(json: Listing(sweep))
        } else {
            for item in sweep.removed { console.print("removed \(item.kind.rawValue) \(item.name.printable)") }
            for failure in sweep.failures { console.errors("\(CommandLineTool.name): \(failure.printable)\n") }
            if sweep.removed.isEmpty, sweep.failures.isEmpty { console.print("Nothing was left behind.") }
        }
        return sweep.failures.isEmpty ? .success : .unknown
    }

    /// The object of `--json`.
    struct Listing: Encodable {
        struct Item: Encodable {
            let kind: String
            let name: String
        }

        let schema: Int
        let removed: [Item]
        let failures: [String]

        init(_ sweep: LeftoverSweep) {
            schema = Report.schema
            removed = sweep.removed.map { Item(kind: $0.kind.rawValue, name: $0.name) }
            failures = sweep.failures
        }
    }
}
