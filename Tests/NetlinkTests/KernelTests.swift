import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Netlink

/// Against the kernel, each test in a network namespace of its own.
@Suite("Kernel", .enabled(if: NetworkNamespace.isAvailable, "needs root: network namespaces"))
struct KernelTests {
    /// Makes a veth pair in the current namespace and returns a socket and the index of `ve0`.
    static func pair(up: Bool = true) throws -> (NetlinkSocket, UInt32) {
        try NetworkNamespace.shell("ip link add ve0 type veth peer name ve1")
        let socket = try NetlinkSocket()
        let index = try socket.link(named: "ve0").index
        let peer = try socket.link(named: "ve1").index
        if up { try socket.perform([.setLink(peer, .up(true)), .setLink(index, .up(true))]) }
        return (socket, index)
    }

    @Test("link properties are set and read back")
    func linkProperties() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair(up: false)
            try socket.perform([
                .setLink(index, .addressGeneration(.none)), .setLink(index, .mtu(1420)),
                .setLink(index, .transmitQueueLength(77)), .setLink(index, .alias("tunnel of a test")),
                .setLink(index, .up(true)),
            ])
            let link = try socket.link(index: index)
            #expect(link.name == "ve0" && link.mtu == 1420 && link.transmitQueueLength == 77 && link.isUp)
            #expect(
                link.alias == "tunnel of a test" && link.kind == "veth"
                    && link.addressGeneration == Link.AddressGeneration.none)
            #expect(try socket.links().map(\.name).sorted() == ["lo", "ve0", "ve1"])
            try socket.perform(.setLink(index, .up(false)))
            #expect(try socket.link(named: "ve0").isUp == false)
            try socket.perform(.deleteLink(index))
            #expect(try socket.links().map(\.name) == ["lo"])
        }
    }

    @Test("counters are the interface's")
    func statistics() throws {
        try NetworkNamespace.run {
            try NetworkNamespace.shell("ip link set lo up && ping -c 3 -i 0.01 -q 127.0.0.1")
            let counters = try NetlinkSocket().link(named: "lo").statistics
            #expect(counters.sentPackets == 6 && counters.receivedPackets == 6)
            #expect(counters.sentBytes == 6 * 84 && counters.receiveErrors == 0)
        }
    }

    @Test("addresses are added, updated in place, listed and deleted")
    func addresses() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair(up: false)
            try socket.perform([.setLink(index, .addressGeneration(.none)), .setLink(index, .up(true))])
            let wanted = ["10.9.0.2": 32, "10.9.1.2": 24, "fd00::2": 128, "fd00:1::2": 64].compactMap { text, length in
                IPAddress(text).map { InterfaceAddress(interface: index, address: $0, prefixLength: length) }
            }
            try socket.perform(wanted.map { .addAddress($0) })
            try socket.perform(wanted.map { .addAddress($0) })
            #expect(Set(try socket.addresses(interface: index)) == Set(wanted))
            #expect(try socket.addresses(.ipv6, interface: index).count == 2)
            #expect(!(try NetworkNamespace.shell("ip -6 addr show dev ve0").contains("tentative")))
            try socket.perform(wanted.map { .deleteAddress($0) })
            #expect(try socket.addresses(interface: index).isEmpty)
            let missing = try #require(socket.submit([.deleteAddress(wanted[0])])[0])
            #expect(missing.kind == .notFound)
        }
    }

    @Test("every kind of route equals what the dump returns", arguments: AddressFamily.allCases)
    func routes(family: AddressFamily) throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let texts =
                family == .ipv4
                ? ["10.0.0.0/8", "192.168.1.0/24", "8.8.8.8/32"] : ["fd00::/8", "2001:db8::/32", "2001:db8::1/128"]
            let prefixes = try texts.map { try #require(IPPrefix($0)) }
            let routes = [
                Route(prefixes[0], interface: index, table: 54000, protocolNumber: 120),
                Route(prefixes[1], kind: .throw, table: 54000, protocolNumber: 120),
                Route(prefixes[2], interface: index, table: 54000, metric: 7, protocolNumber: 120),
                Route(
                    .everything(family), kind: .unreachable, table: 54000, metric: 4_278_198_272, protocolNumber: 2),
            ]
            #expect(try socket.routes(family, table: 54000).isEmpty)
            try socket.perform(routes.map { .addRoute($0) })
            #expect(Set(try socket.routes(family, table: 54000)) == Set(routes))
            #expect(try #require(socket.submit([.addRoute(routes[0])])[0]).kind == .alreadyExists)
            try socket.perform(.replaceRoute(routes[0]))
            #expect(try socket.routes(family, table: 54000).count == routes.count)
            #expect(Set(try socket.routes()).isSuperset(of: routes))
            try socket.perform(routes.map { .deleteRoute($0) })
            #expect(try socket.routes(family, table: 54000).isEmpty)
            #expect(try #require(socket.submit([.deleteRoute(routes[0])])[0]).kind == .notFound)
        }
    }

    @Test("10,000 routes go in batches and come out of one dump", arguments: AddressFamily.allCases)
    func manyRoutes(family: AddressFamily) throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let routes = try (0..<10_000).map { number in
                let bits = UInt128(10 << 24 | UInt32(number) << 8) << 96
                let prefix = try #require(IPPrefix(IPAddress(family: family, bits: bits), length: 24))
                return Route(prefix, interface: index, table: 54000, protocolNumber: 120)
            }
            let clock = ContinuousClock()
            let adding = try clock.measure { try socket.perform(routes.map { .addRoute($0) }) }
            var listed: [Route] = []
            let listing = try clock.measure { listed = try socket.routes(family, table: 54000) }
            #expect(Set(listed) == Set(routes) && listed.count == routes.count)
            let deleting = try clock.measure { try socket.perform(routes.map { .deleteRoute($0) }) }
            #expect(try socket.routes(family, table: 54000).isEmpty)
            print("10,000 \(family) routes: added \(adding), listed \(listing), deleted \(deleting)")
        }
    }

    @Test("in a batch with failures each request has its own outcome")
    func outcomes() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let requests: [Request] = try (0..<400).map { number in
                let prefix = try #require(IPPrefix("10.0.\(number / 2).0/24"))
                let interface = number % 2 == 0 ? index : 9999
                return .addRoute(Route(prefix, interface: interface, table: 54000, protocolNumber: 120))
            }
            let outcomes = socket.submit(requests + [.setLink(index, .mtu(-5))])
            #expect(outcomes.count == 401)
            for (number, outcome) in outcomes.dropLast().enumerated() {
                #expect(number % 2 == 0 ? outcome == nil : outcome?.kind == .noSuchInterface)
            }
            #expect(outcomes.last??.kernelMessage == "-5 is out of range")
        }
    }

    @Test("a rule added twice is refused, and with another protocol number it is a second rule")
    func rules() throws {
        try NetworkNamespace.run {
            let socket = try NetlinkSocket()
            for family in AddressFamily.allCases {
                let before = try socket.rules(family)
                let rules = [
                    Rule(family: family, priority: 5400, mark: 0x7068_0000, action: .lookup(254), protocolNumber: 2),
                    Rule(
                        family: family, priority: 5402, mark: 0x70, mask: 0xff, action: .unreachable, protocolNumber: 2),
                    Rule(family: family, priority: 5406, action: .lookup(54000), protocolNumber: 2),
                ]
                try socket.perform(rules.map { .addRule($0) })
                #expect(try socket.rules(family).filter { (5400..<5410).contains($0.priority) } == rules)
                #expect(try #require(socket.submit([.addRule(rules[0])])[0]).kind == .alreadyExists)
                var other = rules[0]
                other.protocolNumber = 120
                try socket.perform(.addRule(other))
                try socket.perform(([other] + rules).map { .deleteRule($0) })
                #expect(try socket.rules(family) == before)
            }
        }
    }

    @Test("a route lookup obeys marks and says when a packet would be refused", arguments: AddressFamily.allCases)
    func lookup(family: AddressFamily) throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let everything = IPPrefix.everything(family)
            let target = try #require(IPAddress(family == .ipv4 ? "9.9.9.9" : "2620:fe::9"))
            let source = try #require(IPAddress(family == .ipv4 ? "10.0.0.1" : "fd00::1"))
            let address = InterfaceAddress(interface: index, address: source, prefixLength: family.bitWidth)
            try socket.perform([
                .addAddress(address),
                .addRoute(Route(everything, interface: index, table: 54000, protocolNumber: 120)),
                .addRule(Rule(family: family, priority: 5402, mark: 0x51, action: .unreachable, protocolNumber: 2)),
                .addRule(Rule(family: family, priority: 5406, action: .lookup(54000), protocolNumber: 2)),
            ])
            let route = try #require(try socket.route(to: target))
            #expect(route.table == 54000 && route.interface == index && route.preferredSource == source)
            #expect(try socket.route(to: target, mark: 0x51) == nil)
        }
    }

    @Test("the monitor sees a link go, and what went with it")
    func monitor() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let monitor = try NetlinkMonitor()
            let prefix = try #require(IPPrefix("10.0.0.0/8"))
            let route = Route(prefix, interface: index, table: 54000, protocolNumber: 120)
            let rule = Rule(family: .ipv6, priority: 5406, action: .lookup(54000), protocolNumber: 2)
            let address = InterfaceAddress(
                interface: index, address: try #require(IPAddress("10.0.0.1")), prefixLength: 32)
            try socket.perform([.addAddress(address), .addRoute(route), .addRule(rule), .deleteRule(rule)])
            try NetworkNamespace.shell("ip link del ve0")
            var events: [NetlinkMonitor.Event] = []
            while case let more = try monitor.read(), !more.isEmpty { events += more }
            for expected: NetlinkMonitor.Event in [.address(address), .route(route), .rule(rule), .ruleRemoved(rule)] {
                #expect(events.contains(expected))
            }
            #expect(events.contains { if case .linkRemoved(let link) = $0 { link.index == index } else { false } })
            #expect(!events.contains(.resyncNeeded))
            #expect(throws: NetlinkError.self) { try socket.link(index: index) }
        }
    }

    @Test("a monitor that fell behind asks for a resync and goes on")
    func monitorOverflow() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let monitor = try NetlinkMonitor(receiveBuffer: 4096)
            let routes: [Request] = try (0..<1000).map { number in
                let prefix = try #require(IPPrefix("10.\(number >> 8).\(number & 255).0/24"))
                return .addRoute(Route(prefix, interface: index, table: 54000, protocolNumber: 120))
            }
            try socket.perform(routes)
            var events: [NetlinkMonitor.Event] = []
            while case let more = try monitor.read(), !more.isEmpty { events += more }
            #expect(events.contains(.resyncNeeded) && events.count < 1000)
            let rule = Rule(family: .ipv4, priority: 5406, action: .lookup(54000), protocolNumber: 2)
            try socket.perform(.addRule(rule))
            #expect(try monitor.read() == [.rule(rule)])
        }
    }

    @Test("an unknown interface gives one clear error")
    func unknownInterface() throws {
        try NetworkNamespace.run {
            let socket = try NetlinkSocket()
            for name in ["nosuch0", "", "a-name-that-is-too-long", "lo\0x"] {
                let error = #expect(throws: NetlinkError.self) { try socket.link(named: name) }
                #expect(error?.kind == .noSuchInterface)
                #expect(error?.description.contains(name.debugDescription) == true)
            }
            for index: UInt32 in [0, 12345, .max] {
                let error = #expect(throws: NetlinkError.self) { try socket.link(index: index) }
                #expect(error?.kind == .noSuchInterface)
            }
            let error = try #require(socket.submit([.setLink(12345, .mtu(1400))])[0])
            #expect(error.kind == .noSuchInterface && error.description.contains("set mtu 1400 of interface 12345"))
        }
    }

    @Test("IPv6 switched off on an interface is its own error; IPv4 goes on")
    func ipv6Disabled() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            try NetworkNamespace.shell("echo 1 > /proc/sys/net/ipv6/conf/ve0/disable_ipv6")
            let six = InterfaceAddress(interface: index, address: try #require(IPAddress("fd00::2")), prefixLength: 64)
            let four = InterfaceAddress(
                interface: index, address: try #require(IPAddress("10.0.0.1")), prefixLength: 24)
            let outcomes = socket.submit([
                .addAddress(six), .addAddress(four),
                .addRoute(Route(.everything(.ipv6), interface: index, table: 54000, protocolNumber: 120)),
            ])
            #expect(outcomes[0]?.kind == .ipv6Unavailable && outcomes[2]?.kind == .ipv6Unavailable)
            #expect(outcomes[0]?.description.contains("IPv6 is not available") == true)
            #expect(outcomes[1] == nil)
        }
    }

    @Test("the kernel's own sentence reaches the error")
    func kernelMessage() throws {
        try NetworkNamespace.run {
            let (socket, index) = try Self.pair()
            let error = try #require(socket.submit([.setLink(index, .mtu(100_000))])[0])
            #expect(error.code == EINVAL && error.kernelMessage?.contains("mtu") == true)
        }
    }

    @Test("a socket stays in the namespace of the thread that made it")
    func namespaceOfSocket() throws {
        let carrier = try NetworkNamespace.run {
            try NetworkNamespace.shell("ip link add only-here type veth peer name only-peer")
            return Carrier(try NetlinkSocket())
        }
        let link = try carrier.socket.withLock { try $0.link(named: "only-here") }
        #expect(link.kind == "veth")
        let outside = try NetlinkSocket()
        #expect(throws: NetlinkError.self) { try outside.link(named: "only-here") }
    }

    /// Takes a socket to another thread.
    final class Carrier: Sendable {
        let socket: Mutex<NetlinkSocket>

        init(_ socket: sending NetlinkSocket) { self.socket = Mutex(socket) }
    }
}
