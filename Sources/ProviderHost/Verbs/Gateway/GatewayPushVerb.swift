internal import GatewayRegistry

/// `gateway push`: offers the settings anew though they are the same.
enum GatewayPushVerb {
    static let command = Command(
        name: "gateway push", summary: "Offer every peer, a group or one peer its settings anew.",
        options: [.peer, .group],
        discussion: "Changes are offered by themselves; this makes clients apply again what they have."
    ) { arguments, console in
        let scope = try arguments.scope()
        let registry = try GatewayVerbs.registry()
        var count = 0
        try registry.change { contents throws(RegistryError) in count = try contents.forcePush(to: scope) }
        console.print("offered to \(count) peer\(count == 1 ? "" : "s")")
        return .success
    }
}
