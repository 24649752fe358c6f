internal import GatewayRegistry
internal import WireGuard

/// `gateway route …`: which networks clients reach through the gateway.
enum GatewayRouteVerbs {
    static let all = [add, remove, list]

    private static let outside = Command.Option(
        name: "exclude", summary: "The network stays outside of the tunnel even where a route covers it.")

    private static let add = Command(
        name: "gateway route add", summary: "Push a route to every peer, to a group or to one peer.",
        positionals: [.init(name: "PREFIX")], options: [.peer, .group, outside],
        discussion: "A client decides itself what it takes: `gateway results` tells what became of a route."
    ) { arguments, _ in
        try change(arguments) { contents, prefix, kind, scope throws(RegistryError) in
            try contents.addRoute(prefix, kind, for: scope)
        }
    }

    private static let remove = Command(
        name: "gateway route remove", summary: "Take a route back.", positionals: [.init(name: "PREFIX")],
        options: [.peer, .group, outside]
    ) { arguments, _ in
        try change(arguments) { contents, prefix, kind, scope throws(RegistryError) in
            try contents.removeRoute(prefix, kind, for: scope)
        }
    }

    private static let list = Command(
        name: "gateway route list", summary: "List the routes that are pushed, and to whom.", options: [.json]
    ) { arguments, console in
        let contents = try GatewayVerbs.registry().contents()
        let routes = RouteListing.routes(of: contents)
        if arguments.wantsJSON {
            console.print(json: RouteListing(routes: routes))
        } else {
            for route in routes { console.print(route.line) }
            if routes.isEmpty { console.print("No routes are pushed but those of the pools.") }
        }
        return .success
    }

    private static func change(
        _ arguments: Arguments,
        _ body: (inout RegistryContents, IPPrefix, RouteKind, PushScope) throws(RegistryError) -> Void
    ) throws -> ExitCode {
        let prefix = try IPPrefix.strict(arguments.positionals[0])
        let kind: RouteKind = arguments.switches.contains(outside.name) ? .excluded : .included
        let scope = try arguments.scope()
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in try body(&contents, prefix, kind, scope) }
        return .success
    }

    /// The object of `--json`.
    private struct RouteListing: Encodable {
        struct Route: Encodable {
            let prefix: String
            let kind: String
            let peer: Nullable<String>
            let group: Nullable<String>

            var line: String {
                let scope = peer.value.map { "  peer \($0)" } ?? group.value.map { "  group \($0)" } ?? ""
                return prefix + scope + (kind == RouteKind.excluded.rawValue ? "  excluded" : "")
            }
        }

        let schema = Report.schema
        let routes: [Route]

        private enum CodingKeys: String, CodingKey { case schema, routes }

        static func routes(of contents: RegistryContents) -> [Route] {
            contents.routes.map { scope, kind, prefix in
                Route(
                    prefix: "\(prefix)", kind: kind.rawValue, peer: Nullable(scope.peerName),
                    group: Nullable(scope.groupName))
            }
        }
    }
}
