import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

@Suite("Restoring what others removed")
struct RestoreTests {
    private static func start(_ system: ModelSystem) throws -> InterfaceSettings {
        let trafficGuard = TrafficGuard(
            KillSwitch(.everything, excludesLocalNetworks: false), filter: ModelFilter(system: system))
        try trafficGuard.arm(interface: "phtun0")
        let interface = try InterfaceSettings(interface: "phtun0", effects: system, trafficGuard: trafficGuard)
        try interface.admitSockets()
        try interface.apply(UndoTests.sets[3].settings)
        return interface
    }

    @Test("nothing is missing, nothing is done")
    func nothing() throws {
        let system = ModelSystem()
        let interface = try Self.start(system)
        system.arm(nil, from: 0, through: 0)
        #expect(try interface.restore() == [] && system.operations == 0)
    }

    @Test("each thing that is removed comes back", arguments: 0..<5)
    func everything(_ number: Int) throws {
        let system = ModelSystem()
        let interface = try Self.start(system)
        let before = system.contents
        system.change { contents in
            switch number {
            case 0: contents.filter = [:]
            case 1: contents.rules = contents.rules.filter { PolicySlot.owner(of: $0) == nil }
            case 2: contents.routes = contents.routes.filter { !PolicySlot.tables.contains($0.table) }
            case 3: contents.addresses = []
            default:
                contents.filter = [:]
                contents.rules = []
                contents.routes = []
                contents.addresses = []
            }
        }
        let phrases = try interface.restore()
        #expect(!phrases.isEmpty)
        if number == 4 {
            #expect(phrases == ["the kill switch", "2 addresses", "4 routes", "6 rules"])
            #expect(before.rules.subtracting(system.contents.rules).allSatisfy { PolicySlot.owner(of: $0) == nil })
        } else {
            #expect(system.contents == before)
        }
    }

    @Test("what cannot be put back is an error, and the next try puts it back")
    func fault() throws {
        let system = ModelSystem()
        let interface = try Self.start(system)
        let before = system.contents
        system.change { $0.rules = $0.rules.filter { PolicySlot.owner(of: $0) == nil } }
        system.arm(.refused, from: 2, through: 2)
        #expect(throws: SettingsApplyError.self) { try interface.restore() }
        system.arm(nil, from: 0, through: 0)
        #expect(try interface.restore() == ["1 rule"])
        #expect(system.contents == before)
    }
}
