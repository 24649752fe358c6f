import Glibc
import Testing

@testable import PacketPath

@Suite("Routes of datagrams", .enabled(if: Namespace.isRoot, "needs root for namespaces"))
struct RouteTests {
    private struct Way: Sendable {
        let destination: PeerAddress
        let local: IPAddress
        let text: (target: String, first: String, second: String)
    }

    private static let ways = [
        Way(
            destination: PeerAddress(address: .v4(0xc633_6402), port: 9), local: .v4(0xc000_0201),
            text: ("198.51.100.2", "192.0.2.2", "203.0.113.2")),
        Way(
            destination: PeerAddress(address: .v6(0x2001_0db8_0009_0000_0000_0000_0000_0002), port: 9),
            local: .v6(0x2001_0db8_0000_0000_0000_0000_0000_0001),
            text: ("2001:db8:9::2", "2001:db8::2", "2001:db8:1::2")),
    ]

    @Test("Changes are told once, and the way follows routes and marks", arguments: 0..<2)
    func ways(index: Int) async throws {
        let way = Self.ways[index]
        try await Namespace.run {
            try Namespace.enter()
            for (device, four, six) in [
                ("one", "192.0.2.1/24", "2001:db8::1/64"), ("two", "203.0.113.1/24", "2001:db8:1::1/64"),
            ] {
                try Namespace.ip("link add \(device) type veth peer name \(device)-end")
                try Namespace.ip("link set \(device)-end up")
                try Namespace.ip("link set \(device) up")
                try Namespace.ip("address add \(four) dev \(device)")
                try Namespace.ip("address add \(six) dev \(device) nodad")
            }
            let watch = try RouteWatch()
            #expect(!watch.takeChanges())
            let (one, two) = unsafe (if_nametoindex("one"), if_nametoindex("two"))
            func leads(_ interface: UInt32, mark: UInt32 = 0) -> Bool {
                let source = LocalAddress(address: way.local, interface: interface)
                return RouteWatch.leads(to: way.destination, from: source, mark: mark)
            }
            #expect(!leads(one) && !leads(two))
            try Namespace.ip("route add \(way.text.target) via \(way.text.first) metric 20")
            #expect(watch.takeChanges() && !watch.takeChanges())
            #expect(leads(one) && !leads(two))
            try Namespace.ip("route add \(way.text.target) via \(way.text.second) metric 10")
            #expect(watch.takeChanges())
            #expect(!leads(one) && leads(two))
            try Namespace.ip("route add \(way.text.target) via \(way.text.first) table 77")
            try Namespace.ip("\(way.local.family == 4 ? "" : "-6 ")rule add fwmark 5 table 77")
            #expect(watch.takeChanges())
            #expect(leads(one, mark: 5) && leads(two))
            // An address that is not ours leads nowhere; in IPv6 only sending tells.
            let foreign = LocalAddress(address: way.destination.address, interface: two)
            #expect(RouteWatch.leads(to: way.destination, from: foreign, mark: 0) == (way.local.family == 6))
        }
    }
}
