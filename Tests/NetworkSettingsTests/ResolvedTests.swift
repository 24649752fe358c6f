import Foundation
import Netlink
import ProviderKit
import TestSupport
import Testing

@testable import NetworkSettings

/// Against the real systemd-resolved, each test in a room of its own.
@Suite(
    "systemd-resolved", .serialized,
    .enabled(
        if: NetworkNamespace.isAvailable && ResolverRoom.isAvailable,
        "needs root, dbus and an unpacked systemd-resolved"))
struct ResolvedTests {
    private static func inRoom(_ body: @escaping @Sendable (ResolverRoom, InterfaceSettings) throws -> Void) throws {
        try NetworkNamespace.run(withMounts: true) {
            let room = try ResolverRoom()
            defer { room.close() }
            try NetworkNamespace.shell("ip tuntap add phtun0 mode tun")
            try body(
                room,
                try InterfaceSettings(interface: "phtun0", effects: SystemEffects()) { () throws(ResolverError) in
                    try SystemResolver.detect()
                })
        }
    }

    private static func dns(_ servers: [String], match: [String]?, search: [String]? = nil, noSearch: Bool = false)
        -> PacketTunnelNetworkSettings
    {
        var dns = DNSSettings(servers: servers)
        dns.matchDomains = match
        dns.searchDomains = search
        dns.matchDomainsNoSearch = noSearch
        return settings(["10.7.0.2/32", "fd07::2/128"], include: ["10.7.0.0/24"], dns: dns)
    }

    @Test("The network's own servers are seen without those of a tunnel")
    func view() throws {
        try Self.inRoom { room, interface in
            try NetworkNamespace.shell("ip link add uplink type veth peer name far && ip link set uplink up")
            let resolver = try SystemResolver.resolved()
            let uplink = try NetlinkSocket().link(named: "uplink")
            let own = ResolverConfiguration(
                servers: [try #require(IPAddress("192.0.2.77"))],
                domains: [.init(name: try #require(DomainName("office.example")), isRouteOnly: false)],
                isDefault: true)
            try resolver.set(own, on: uplink)
            _ = try interface.apply(Self.dns(["10.7.0.1"], match: [""], search: ["tunnel.example"]))
            let view = try ResolverView.current(link: uplink) { $0 == "phtun0" }
            // 192.0.2.1 is what the room's configuration names for every interface.
            #expect(view.servers == ["192.0.2.1", "192.0.2.77"])
            #expect(view.searchDomains == ["office.example"])
            #expect(interface.teardown() == [])
        }
    }

    @Test("full capture: every name, domains before servers, and nothing is left at the end")
    func full() throws {
        try Self.inRoom { room, interface in
            let before = try ["dns", "domain", "default-route", "llmnr"].map { try room.resolvectl($0, "phtun0") }
            let log = try room.monitorBus()
            let result = try interface.apply(Self.dns(["10.7.0.1", "fd07::1"], match: [""], search: ["a.example"]))
            #expect(result.shortfalls == [])
            #expect(try room.resolvectl("dns", "phtun0") == "10.7.0.1 fd07::1")
            #expect(try room.resolvectl("domain", "phtun0") == "a.example ~.")
            #expect(try room.resolvectl("default-route", "phtun0") == "yes")
            #expect(try room.resolvectl("llmnr", "phtun0") == "no")
            #expect(try interface.restoreResolver() == false)
            let order = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
                .compactMap { $0.split(separator: "member=").last.map(String.init) }
                .filter { $0.hasPrefix("SetLink") || $0 == "FlushCaches" }
            #expect(
                order == [
                    "SetLinkDomains", "SetLinkDefaultRoute", "SetLinkDNS", "SetLinkLLMNR", "SetLinkMulticastDNS",
                    "FlushCaches",
                ])
            #expect(interface.teardown() == [])
            let after = try ["dns", "domain", "default-route", "llmnr"].map { try room.resolvectl($0, "phtun0") }
            #expect(after == before)
        }
    }

    @Test("split: only the domains, with and without completing names, and a change replaces all of it")
    func split() throws {
        try Self.inRoom { room, interface in
            try interface.apply(Self.dns(["10.7.0.1"], match: ["corp.example", "lab.example"], search: ["a.example"]))
            #expect(try room.resolvectl("domain", "phtun0") == "a.example corp.example lab.example")
            #expect(try room.resolvectl("default-route", "phtun0") == "no")
            try interface.apply(Self.dns(["10.7.0.3"], match: ["corp.example"], noSearch: true))
            #expect(try room.resolvectl("domain", "phtun0") == "~corp.example")
            #expect(try room.resolvectl("dns", "phtun0") == "10.7.0.3")
            try interface.apply(settings(["10.7.0.2/32"]))
            #expect(try room.resolvectl("dns", "phtun0") == "" && room.resolvectl("domain", "phtun0") == "")
        }
    }

    @Test("restarted, it is told again; the bus too")
    func restarted() throws {
        try Self.inRoom { room, interface in
            try interface.apply(Self.dns(["10.7.0.1"], match: [""]))
            room.signal(SIGKILL, "resolved")
            try room.startResolved()
            #expect(try room.resolvectl("dns", "phtun0") == "")
            var entry = pollfd(fd: try #require(interface.resolverDescriptor), events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&entry, 1, 5000) == 1)
            #expect(try interface.restoreResolver())
            #expect(try room.resolvectl("dns", "phtun0") == "10.7.0.1")

            room.signal(SIGKILL, "bus")
            room.signal(SIGKILL, "resolved")
            entry.fd = try #require(interface.resolverDescriptor)
            #expect(unsafe poll(&entry, 1, 5000) == 1)
            let error = #expect(throws: SettingsApplyError.self) { try interface.restoreResolver() }
            #expect(error?.cause.contains("systemd-resolved") == true)
            #expect(interface.resolverDescriptor == nil)
            try NetworkNamespace.shell("rm -f /run/dbus/system_bus_socket")
            try room.startBus()
            try room.startResolved()
            #expect(try interface.restoreResolver())
            #expect(try room.resolvectl("dns", "phtun0") == "10.7.0.1")
            #expect(try interface.restoreResolver() == false)
        }
    }

    @Test("one that hangs fails the whole set within seconds, and nothing is left of it")
    func hangs() throws {
        try Self.inRoom { room, interface in
            try interface.apply(Self.dns(["10.7.0.1"], match: [""]))
            let rules = try NetworkNamespace.shell("ip rule; ip route show table all; ip -4 addr")
            room.signal(SIGSTOP, "resolved")
            let clock = ContinuousClock()
            let start = clock.now
            let error = #expect(throws: SettingsApplyError.self) {
                try interface.apply(
                    settings(["10.8.0.2/32"], include: ["10.8.0.0/24"], dns: DNSSettings(servers: ["10.8.0.1"])))
            }
            #expect(clock.now - start < .seconds(10))
            #expect(error?.step == "set DNS" && error?.undoFailures.count == 1)
            #expect(try NetworkNamespace.shell("ip rule; ip route show table all; ip -4 addr") == rules)
            room.signal(SIGCONT, "resolved")
            // What could not be undone is told again once the service answers.
            #expect(try interface.restoreResolver())
            #expect(try room.resolvectl("dns", "phtun0") == "10.7.0.1")
        }
    }

    @Test("one of another network namespace is not told of our interfaces")
    func otherNamespace() throws {
        try Self.inRoom { room, interface in
            room.signal(SIGKILL, "resolved")
            try room.startResolved(within: "unshare -n")
            let error = #expect(throws: SettingsApplyError.self) {
                try interface.apply(Self.dns(["10.7.0.1"], match: [""]))
            }
            #expect(error?.cause.contains("another network namespace") == true)
        }
    }
}
