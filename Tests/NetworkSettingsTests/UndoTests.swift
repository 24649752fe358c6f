import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

/// Every way from one set to another, with a fault at every operation on the way.
@Suite("All or nothing")
struct UndoTests {
    static let sets: [(name: String, settings: PacketTunnelNetworkSettings?)] = [
        ("nothing", nil),
        ("IPv4 default", settings(["10.9.0.2/32"], include: ["0.0.0.0/0"], exclude: ["192.168.1.0/24"])),
        ("IPv4 default, other address", settings(["10.9.0.3/32"], include: ["0.0.0.0/0"])),
        ("both defaults", settings(["10.9.0.2/32", "fd00::2/128"], include: ["0.0.0.0/0", "::/0"], mtu: 1420)),
        (
            "IPv4 default with DNS",
            settings(["10.9.0.2/32"], include: ["0.0.0.0/0"], dns: DNSSettings(servers: ["10.9.0.1"]))
        ),
        (
            "split with other DNS",
            settings(["10.9.0.3/32"], include: ["10.0.0.0/8"], dns: DNSSettings(servers: ["10.0.0.53", "10.0.0.54"]))
        ),
        ("halves", settings(["10.9.0.2/32"], include: ["0.0.0.0/1", "128.0.0.0/1"])),
        ("split", settings(["10.9.0.2/24", "10.9.0.3/24"], include: ["10.0.0.0/8"], exclude: ["10.1.0.0/16"])),
        ("split, second address", settings(["10.9.0.3/24"], include: ["10.0.0.0/8", "172.16.0.0/12"])),
        ("IPv6 only", settings(["fd00::2/64"], include: ["fd00::/8"], exclude: ["fd01::/16"])),
        ("routes without addresses", settings([], include: ["10.0.0.0/8", "::/0"])),
        ("too small for IPv6", settings(["10.9.0.2/32"], include: ["10.0.0.0/8"], mtu: 1000)),
        ("no routes", settings(["10.9.0.2/24"], include: ["0.0.0.0/0"], routing: .off)),
        (
            "own table",
            settings(["10.9.0.2/32"], include: ["10.0.0.0/8"], exclude: ["10.1.0.0/16"], routing: .table(77))
        ),
        (
            "own table, exchanged",
            settings(["10.9.0.2/32"], include: ["10.1.0.0/16"], exclude: ["10.0.0.0/8"], routing: .table(77))
        ),
    ]

    private static func start(_ first: PacketTunnelNetworkSettings?) throws -> (ModelSystem, InterfaceSettings) {
        let system = ModelSystem()
        let interface = try InterfaceSettings(interface: "phtun0", effects: system)
        try interface.apply(first)
        return (system, interface)
    }

    @Test("a fault at any operation leaves what was there", arguments: sets.indices)
    func faults(from first: Int) throws {
        var tried = 0
        for second in Self.sets.indices where second != first {
            let path = "\(Self.sets[first].name) -> \(Self.sets[second].name)"
            let (counting, counted) = try Self.start(Self.sets[first].settings)
            counting.arm(nil, from: 0, through: 0)
            try counted.apply(Self.sets[second].settings)
            for operation in 0..<counting.operations {
                for fault in ModelSystem.Fault.allCases {
                    let (system, interface) = try Self.start(Self.sets[first].settings)
                    let before = system.contents
                    system.arm(fault, from: operation, through: operation)
                    #expect(throws: SettingsApplyError.self, "\(path), operation \(operation) \(fault)") {
                        try interface.apply(Self.sets[second].settings)
                    }
                    #expect(system.contents == before, "\(path), operation \(operation) \(fault)")
                    system.arm(nil, from: 0, through: 0)
                    try interface.apply(Self.sets[second].settings)
                    #expect(system.contents == counting.contents, "\(path), operation \(operation) \(fault), retried")
                    tried += 1
                }
            }
        }
        #expect(tried > 100)
    }

    @Test("a fault of any reading leaves what was there", arguments: sets.indices)
    func readFaults(from first: Int) throws {
        for second in Self.sets.indices where second != first {
            let (counting, counted) = try Self.start(Self.sets[first].settings)
            counting.armRead(nil)
            try counted.apply(Self.sets[second].settings)
            for number in 0..<counting.reads {
                let (system, interface) = try Self.start(Self.sets[first].settings)
                let before = system.contents
                system.armRead(number)
                #expect(throws: SettingsApplyError.self) { try interface.apply(Self.sets[second].settings) }
                #expect(system.contents == before)
            }
        }
    }

    @Test("any path ends where the last set alone would, and teardown leaves nothing", arguments: sets.indices)
    func paths(from first: Int) throws {
        let untouched = ModelSystem().contents
        for second in Self.sets.indices {
            let (system, interface) = try Self.start(Self.sets[first].settings)
            try interface.apply(Self.sets[second].settings)
            let (direct, _) = try Self.start(Self.sets[second].settings)
            #expect(system.contents.addresses == direct.contents.addresses)
            #expect(system.contents.links == direct.contents.links)
            #expect(system.contents.rules.count == direct.contents.rules.count)
            #expect(system.contents.routes.count == direct.contents.routes.count)
            #expect(system.contents.sysctls == direct.contents.sysctls)
            #expect(interface.teardown() == [])
            #expect(system.contents == untouched)
        }
    }

    @Test("while a default route is exchanged every packet goes through the tunnel")
    func makeBeforeBreak() throws {
        let target = try #require(IPAddress("8.8.8.8"))
        let names = ["IPv4 default", "IPv4 default, other address", "both defaults", "halves"]
        let defaults = Self.sets.filter { names.contains($0.name) }
        #expect(defaults.count == names.count)
        for first in defaults {
            for second in defaults where second.name != first.name {
                let (system, interface) = try Self.start(first.settings)
                system.forgetLog()
                try interface.apply(second.settings)
                #expect(!system.log.isEmpty)
                for contents in system.log {
                    #expect(ModelSystem.lookup(target, in: contents) == system.tunnel)
                    #expect(ModelSystem.lookup(target, mark: interface.mark, in: contents) == system.underlay)
                }
            }
        }
    }

    @Test("what cannot be undone is reported")
    func undoFails() throws {
        let (system, interface) = try Self.start(nil)
        system.arm(.refused, from: 3, through: .max)
        let error = #expect(throws: SettingsApplyError.self) { try interface.apply(Self.sets[3].settings) }
        #expect(error?.undoFailures.isEmpty == false)
        #expect(error?.cause.contains("Undoing failed too") == true)
        #expect(error?.underlying?.code == 5)
    }

    @Test("an equal set changes nothing, and nil after nil neither")
    func equalSets() throws {
        let (system, interface) = try Self.start(Self.sets[1].settings)
        system.arm(nil, from: 0, through: 0)
        #expect(try interface.apply(Self.sets[1].settings).changed == false)
        #expect(system.operations == 0)
        #expect(try interface.apply(nil).changed)
        system.arm(nil, from: 0, through: 0)
        #expect(try interface.apply(nil).changed == false)
        #expect(system.operations == 0)
    }

    @Test("an invalid set is refused before anything is touched")
    func invalidSet() throws {
        let (system, interface) = try Self.start(Self.sets[1].settings)
        let before = system.contents
        system.arm(nil, from: 0, through: 0)
        #expect(throws: SettingsDefect.invalidAddress(field: "ipv4Settings.addresses", value: "10.9.0.256")) {
            try interface.apply(settings(["10.9.0.256/32"]))
        }
        #expect(system.operations == 0 && system.contents == before)
    }

    @Test("teardown works when the interface is gone, and when another program removed things")
    func teardownAfterLoss() throws {
        let (system, interface) = try Self.start(Self.sets[3].settings)
        #expect(system.submit([.deleteLink(system.tunnel)]) == [nil])
        #expect(interface.teardown() == [])
        #expect(system.contents.rules == ModelSystem().contents.rules)
        #expect(system.contents.routes == ModelSystem().contents.routes)

        let (tampered, other) = try Self.start(Self.sets[3].settings)
        tampered.change { contents in
            contents.rules = contents.rules.filter { $0.priority > 6000 }
            contents.routes = contents.routes.filter { $0.kind == .unicast }
        }
        #expect(other.teardown() == [])
        #expect(tampered.contents == ModelSystem().contents)
    }

    @Test("verification notices what somebody else put into the slot")
    func verification() throws {
        let (system, interface) = try Self.start(nil)
        let rogue = Rule(family: .ipv4, priority: 5401, action: .lookup(254), protocolNumber: 4)
        system.change { _ = $0.rules.insert(rogue) }
        let before = system.contents
        let error = #expect(throws: SettingsApplyError.self) { try interface.apply(Self.sets[1].settings) }
        #expect(error?.step == "verify")
        #expect(system.contents == before)
    }
}
