internal import GatewayRegistry
internal import WireGuard

/// `gateway pool …`: the networks whose addresses are leased.
enum GatewayPoolVerbs {
    static let all = [add, remove, list, draining(true), draining(false)]

    private static let add = Command(
        name: "gateway pool add", summary: "Add a network whose addresses are leased to peers.",
        positionals: [.init(name: "PREFIX")]
    ) { arguments, _ in
        let prefix = try IPPrefix.strict(arguments.positionals[0])
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in
            var generator = SystemRandomNumberGenerator()
            try contents.addPool(prefix, now: GatewayVerbs.now, random: &generator)
        }
        return .success
    }

    private static let remove = Command(
        name: "gateway pool remove", summary: "Remove a pool.", positionals: [.init(name: "PREFIX")],
        options: [.init(name: "reassign", summary: "Move the peers that have addresses of it to other pools.")]
    ) { arguments, _ in
        let prefix = try IPPrefix.strict(arguments.positionals[0])
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in
            var generator = SystemRandomNumberGenerator()
            try contents.removePool(
                prefix, reassigning: arguments.switches.contains("reassign"), now: GatewayVerbs.now, random: &generator)
        }
        return .success
    }

    private static let list = Command(
        name: "gateway pool list", summary: "List the pools with the number of addresses that are leased.",
        options: [.json]
    ) { arguments, console in
        let contents = try GatewayVerbs.registry().contents()
        let pools = contents.pools.map { PoolListing.Pool($0, contents) }
        if arguments.wantsJSON {
            console.print(json: PoolListing(pools: pools))
        } else {
            for pool in pools {
                console.print(
                    "\(pool.prefix)  gateway \(pool.gatewayAddress)  \(pool.leased) leased"
                        + (pool.draining ? "  draining" : ""))
            }
            if pools.isEmpty { console.print("There are no pools.") }
        }
        return .success
    }

    private static func draining(_ isDraining: Bool) -> Command {
        Command(
            name: "gateway pool \(isDraining ? "drain" : "open")",
            summary: isDraining
                ? "Lease no further addresses of a pool; those that are leased stay."
                : "Lease addresses of a pool again.",
            positionals: [.init(name: "PREFIX")]
        ) { arguments, _ in
            let prefix = try IPPrefix.strict(arguments.positionals[0])
            let registry = try GatewayVerbs.registry()
            try registry.change { contents throws(RegistryError) in
                try contents.setDraining(isDraining, pool: prefix)
            }
            return .success
        }
    }

    /// The object of `--json`.
    private struct PoolListing: Encodable {
        struct Pool: Encodable {
            let prefix: String
            let gatewayAddress: String
            let leased: Int
            let draining: Bool

            init(_ pool: AddressPool, _ contents: RegistryContents) {
                prefix = "\(pool.prefix)"
                let address = pool.gatewayAddress
                gatewayAddress = "\(address)"
                leased = contents.leases.byAddress.values.count { $0.pool == pool.prefix && $0.isHeld }
                draining = pool.isDraining
            }
        }

        let schema = Report.schema
        let pools: [Pool]

        private enum CodingKeys: String, CodingKey { case schema, pools }
    }
}
