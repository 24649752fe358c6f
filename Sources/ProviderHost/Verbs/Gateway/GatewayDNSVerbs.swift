internal import GatewayRegistry
internal import HostRuntime
internal import ProviderKit
internal import SettingsPush
internal import WireGuard

/// `gateway dns …`: which resolvers clients use.
enum GatewayDNSVerbs {
    static let all = [set, clear, show]

    private static let set = Command(
        name: "gateway dns set", summary: "Push resolvers to every peer, to a group or to one peer.",
        positionals: [.init(name: "ADDRESS", isRepeated: true)],
        options: [
            .init(name: "mode", value: "MODE", summary: "split (for the domains of --match) or full (all queries)."),
            .init(name: "match", value: "DOMAIN", summary: "A domain that asks the resolvers.", isRepeated: true),
            .init(name: "search", value: "DOMAIN", summary: "A domain that completes short names.", isRepeated: true),
            .peer, .group,
        ],
        discussion: """
            The mode is split where --match or --search is given, else full. What is set for a peer stands in the place of
            what its group has, and that in the place of what the gateway has.
            """
    ) { arguments, _ in
        let offer = try offer(arguments)
        return try change(arguments, to: offer)
    }

    private static let clear = Command(
        name: "gateway dns clear", summary: "Push no resolvers any more to every peer, a group or one peer.",
        options: [.peer, .group]
    ) { arguments, _ in
        try change(arguments, to: nil)
    }

    private static let show = Command(
        name: "gateway dns show", summary: "Show the resolvers that are pushed, and to whom.", options: [.json]
    ) { arguments, console in
        let contents = try GatewayVerbs.registry().contents()
        let offers = contents.sortedScopes.compactMap { scope in
            contents.profiles[scope]?.dns.map { ScopedDNS(scope, $0) }
        }
        if arguments.wantsJSON {
            console.print(json: DNSListing(dns: offers))
        } else {
            for offer in offers { console.print(offer.line) }
            if offers.isEmpty { console.print("No resolvers are pushed.") }
        }
        return .success
    }

    private static func change(_ arguments: Arguments, to offer: DNSOffer?) throws -> ExitCode {
        let scope = try arguments.scope()
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in try contents.setDNS(offer, for: scope) }
        return .success
    }

    private static func offer(_ arguments: Arguments) throws -> DNSOffer {
        let match = try (arguments.lists["match"] ?? []).map(domain)
        let search = try (arguments.lists["search"] ?? []).map(domain)
        let mode: DNSOffer.Mode =
            switch arguments.values["mode"] {
            case "split": .split
            case "full": .full
            case nil: match.isEmpty && search.isEmpty ? .full : .split
            case let text?:
                throw UsageError(
                    .invalidValue, cause: "There is no mode `\(text.printable)`.",
                    remedy: "The modes are split and full.")
            }
        guard mode == .full || !match.isEmpty || !search.isEmpty else {
            throw UsageError(
                .missingOption, cause: "Split DNS needs a domain.",
                remedy: "Name the domains with --match, or give all queries to the resolvers with --mode full.")
        }
        let servers = try arguments.positionals.map { DNSServer(address: try Arguments.address($0)) }
        do throws(SettingsFinding) {
            return try DNSOffer(mode: mode, servers: servers, searchDomains: search, matchDomains: match)
        } catch {
            throw UsageError(
                .invalidValue,
                cause: error.reason == .duplicate
                    ? "A server or domain is given twice." : "There are too many of them.",
                remedy: "Give at most 8 servers, 32 search domains and 256 match domains, each once.")
        }
    }

    private static func domain(_ text: String) throws(UsageError) -> DomainName {
        guard let domain = DomainName(text) else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no domain.",
                remedy: "Use labels of ASCII letters, digits and `-`, separated by dots.")
        }
        return domain
    }

    /// The resolvers of one scope.
    private struct ScopedDNS: Encodable {
        let peer: Nullable<String>
        let group: Nullable<String>
        let dns: PeerDetails.DNS

        init(_ scope: PushScope, _ offer: DNSOffer) {
            peer = Nullable(scope.peerName)
            group = Nullable(scope.groupName)
            dns = PeerDetails.DNS(offer)
        }

        var line: String {
            (peer.value.map { "peer \($0)  " } ?? group.value.map { "group \($0)  " } ?? "") + dns.text
        }
    }

    /// The object of `--json`.
    private struct DNSListing: Encodable {
        let schema = Report.schema
        let dns: [ScopedDNS]

        private enum CodingKeys: String, CodingKey { case schema, dns }
    }
}
