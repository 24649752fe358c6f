import ProviderKit
import Testing

@testable import NetworkSettings

@Suite("Marks of replies")
struct ReplyMarksTests {
    private static func start(_ system: ModelSystem, _ trafficGuard: TrafficGuard? = nil) throws -> InterfaceSettings {
        try InterfaceSettings(
            interface: "phtun0", effects: system, trafficGuard: trafficGuard, filter: ModelFilter(system: system))
    }

    private static func purposes(_ system: ModelSystem) -> Set<FilterTableName.Purpose> {
        Set(system.contents.filter.keys.map(\.purpose))
    }

    @Test("they come and go with a default route in the tunnel's own table")
    func lifetime() throws {
        let system = ModelSystem()
        let before = system.contents
        let interface = try Self.start(system)
        try interface.apply(settings(["10.9.0.2/32"], include: ["10.0.0.0/8"]))
        #expect(system.contents.filter.isEmpty)
        for routes in [["0.0.0.0/0"], ["0.0.0.0/1", "128.0.0.0/1"], ["::/0"]] {
            let result = try interface.apply(settings(["10.9.0.2/32", "fd00::2/128"], include: routes))
            #expect(result.leadsDefault && Self.purposes(system) == [.replies], "\(routes)")
        }
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"], routing: .off))
        #expect(system.contents.filter.isEmpty)
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        #expect(interface.teardown().isEmpty)
        #expect(system.contents == before)
    }

    @Test("under a kill switch nothing from outside is answered there")
    func guarded() throws {
        let system = ModelSystem()
        let killSwitch = KillSwitch(.everything, excludesLocalNetworks: false)
        let interface = try Self.start(system, TrafficGuard(killSwitch, filter: ModelFilter(system: system)))
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        #expect(Self.purposes(system) == [.guardian, .replies])
        let rules = system.contents.filter.values.filter { $0.name.purpose == .replies }
            .flatMap(\.chains).flatMap(\.rules)
        #expect(
            !rules.contains { $0.matches.contains(.isAnswer(true)) || $0.matches.contains(.isAnswer(false)) })
        #expect(rules.contains { $0.verdict == .markPacket(interface.mark) })
    }

    @Test("what another program flushes comes back")
    func restored() throws {
        let system = ModelSystem()
        let interface = try Self.start(system)
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        let before = system.contents
        system.change { $0.filter = [:] }
        #expect(try interface.restore() == ["the marks of replies"])
        #expect(system.contents == before)
    }
}
