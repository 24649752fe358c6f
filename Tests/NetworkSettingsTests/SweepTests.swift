import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

@Suite("Sweep")
struct SweepTests {
    @Test("everything of ours goes, nothing of others")
    func everything() throws {
        let system = ModelSystem()
        let foreign: [Rule] = [
            Rule(family: .ipv4, priority: 5270, action: .lookup(52), protocolNumber: 4),
            Rule(family: .ipv4, priority: 5406, action: .lookup(52), protocolNumber: 4),
            Rule(family: .ipv4, priority: 5400, mark: 5, action: .lookup(254), protocolNumber: 4),
            Rule(family: .ipv4, priority: 32_000, action: .lookup(54_000), protocolNumber: 2),
        ]
        let interface = try InterfaceSettings(interface: "phtun0", effects: system)
        try interface.apply(UndoTests.sets[3].settings)
        system.change { $0.rules.formUnion(foreign) }
        let sweep = try SettingsSweep.everything(system)
        #expect(sweep.failures == [] && sweep.removed.count == 10)
        #expect(system.contents.rules == ModelSystem().contents.rules.union(foreign))
        #expect(system.contents.routes == ModelSystem().contents.routes)
        #expect(try SettingsSweep.everything(system) == SettingsSweep())
    }

    @Test(
        "one interface's sweep takes its slot, its addresses and orphans, not a live neighbour",
        arguments: [true, false])
    func oneInterface(isGone: Bool) throws {
        let system = ModelSystem()
        system.change { contents in
            var other = contents.links[7]
            other?.index = 8
            other?.name = "phtun1"
            contents.links[8] = other
            contents.sysctls["net/ipv4/conf/phtun1/promote_secondaries"] = "0"
        }
        let neighbour = try InterfaceSettings(interface: "phtun1", effects: system)
        try neighbour.apply(settings(["10.8.0.2/32"], include: ["0.0.0.0/0"]))
        // Somebody has set it down, which took its routes; its alias still says whose the slot is.
        #expect(
            system.submit([.setLink(8, .alias(neighbour.slot.alias)), .setLink(8, .up(false))]) == [nil, nil])
        let alive = system.contents
        let crashed = try InterfaceSettings(interface: "phtun0", effects: system)
        #expect(crashed.slot.number == 1)
        try crashed.apply(UndoTests.sets[3].settings)
        if isGone { #expect(system.submit([.deleteLink(7)]) == [nil]) }
        let sweep = try SettingsSweep.interface("phtun0", system)
        #expect(sweep.failures == [] && !sweep.removed.isEmpty)
        #expect(system.contents.rules == alive.rules)
        #expect(system.contents.routes == alive.routes)
        #expect(system.contents.addresses == alive.addresses)
    }
}
