internal import GatewayRegistry
internal import ProviderKit

/// `gateway mtu …`: the MTU inside the tunnel.
enum GatewayMTUVerbs {
    static let all = [set, clear]

    private static let set = Command(
        name: "gateway mtu set", summary: "Push an MTU to every peer, to a group or to one peer.",
        positionals: [.init(name: "BYTES")], options: [.peer, .group]
    ) { arguments, _ in
        guard let mtu = Int(arguments.positionals[0]) else {
            throw UsageError(
                .invalidValue, cause: "The MTU is no number.", remedy: "Give the bytes of a packet, such as 1420.")
        }
        return try change(arguments, to: mtu)
    }

    private static let clear = Command(
        name: "gateway mtu clear", summary: "Take an MTU back; the one of the wider scope is pushed.",
        options: [.peer, .group]
    ) { arguments, _ in
        try change(arguments, to: nil)
    }

    private static func change(_ arguments: Arguments, to mtu: Int?) throws -> ExitCode {
        let scope = try arguments.scope()
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in try contents.setMTU(mtu, for: scope) }
        return .success
    }
}
