import ProviderKit
import SettingsPush
import Testing
import WireGuard

@testable import WireGuardProvider

/// What the policy filter is told of the machine.
@Suite("The machine as the policy filter sees it")
struct PolicyContextTests {
    private func context(
        _ addresses: [(String, String, Int, Int)], defaultRouteMTU: Int? = nil, endpoint: String? = nil
    ) throws -> PolicyContext {
        var context = PolicyContext(ceiling: [])
        let networks = HostNetworks(
            addresses: addresses.map { HostNetworks.Address(interface: $0, address: $1, prefixLength: $2, mtu: $3) },
            defaultRouteMTU: defaultRouteMTU)
        context.note(networks, endpoint: try endpoint.map { try #require(Endpoint($0)) })
        return context
    }

    @Test("Every address is in use; networks are those wider than one address that are not on every link")
    func networks() throws {
        let context = try context([
            ("eth0", "192.168.1.7", 24, 1500), ("eth0", "fe80::7", 64, 1500), ("dummy0", "10.9.9.9", 32, 1500),
            ("eth1", "2001:db8::7", 64, 9000), ("eth1", "169.254.3.3", 16, 9000), ("odd", "no address", 24, 1500),
        ])
        #expect(
            context.connectedNetworks.map { "\($0.prefix) \($0.interface)" } == [
                "192.168.1.0/24 eth0", "2001:db8::/64 eth1",
            ])
        #expect(context.addressesInUse.count == 5)
        #expect(context.addressesInUse[try #require(IPAddress("10.9.9.9"))] == "dummy0")
        #expect(context.largestMTU == 65_535, "nothing is known of the path")
    }

    @Test("The path carries what the interface towards the gateway does, less the outer headers")
    func largestMTU() throws {
        let addresses = [("eth0", "192.168.1.7", 24, 1400), ("eth1", "192.168.0.7", 16, 9000)]
        #expect(try context(addresses, defaultRouteMTU: 1500, endpoint: "192.168.1.1:1").largestMTU == 1340)
        #expect(try context(addresses, defaultRouteMTU: 1500, endpoint: "192.168.2.1:1").largestMTU == 8940)
        #expect(try context(addresses, defaultRouteMTU: 1500, endpoint: "8.8.8.8:1").largestMTU == 1440)
        #expect(try context(addresses, defaultRouteMTU: 1500, endpoint: "[2001:db8::1]:1").largestMTU == 1420)
        #expect(try context(addresses, defaultRouteMTU: 1500).largestMTU == 1420, "it may be IPv6")
        #expect(try context(addresses, endpoint: "8.8.8.8:1").largestMTU == 65_535)
    }
}
