import Glibc
import Netlink
import ProviderKit

@testable import NetworkSettings

/// A resolver that keeps its state in a model system, where it fails like every other change.
struct ModelResolver: Resolver {
    let system: ModelSystem
    var name: String { "model" }

    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? { nil }

    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {
        let code = system.perform { contents in
            contents.resolver = configuration
            return 0
        }
        if code != 0 { throw ResolverError(attempt: "set DNS", reason: "error \(code)") }
    }

    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] { [] }
}

extension InterfaceSettings {
    /// Settings with the resolver of the model system, or without one on a real system.
    convenience init(
        interface: String, effects: any SettingsEffects, mark: UInt32? = nil, taken: Set<PolicySlot> = [],
        trafficGuard: TrafficGuard? = nil, filter: (any PacketFilter)? = nil
    ) throws(SettingsApplyError) {
        let model = effects as? ModelSystem
        try self.init(
            interface: interface, effects: effects, mark: mark, taken: taken, trafficGuard: trafficGuard,
            filter: filter
        ) {
            if let model { return ModelResolver(system: model) }
            return NoResolver(reason: "this test has no resolver", remedy: "")
        }
    }
}
