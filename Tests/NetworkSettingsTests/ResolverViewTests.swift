import Foundation
import Netlink
import TestSupport
import Testing

@testable import NetworkSettings

@Suite("What the network's own resolver is")
struct ResolverViewTests {
    @Test("A file in one spelling: comments, zones and doubles left out, of the lists of domains the last")
    func file() {
        let view = ResolverView(
            text: """
                # nameserver 192.0.2.9
                nameserver 192.0.2.1
                nameserver 2001:DB8:0::1
                nameserver fe80::1%eth0
                nameserver 192.0.2.1
                nameserver nonsense
                nameserver
                domain Old.Example
                search Office.Example. lan _bad..name
                options edns0
                """)
        #expect(view.servers == ["192.0.2.1", "2001:db8::1", "fe80::1"])
        #expect(view.searchDomains == ["office.example", "lan"])
        #expect(ResolverView(text: "") == .empty)
    }

    @Test("Of systemd-resolved's lists, what holds everywhere and what is the primary interface's")
    func resolved() {
        func server(_ link: Int32, _ bytes: [UInt8]) -> [BusValue] {
            [.int32(link), .int32(bytes.count == 4 ? 2 : 10), .array(of: "y", bytes.map { .byte($0) })]
        }
        func domain(_ link: Int32, _ name: String, routeOnly: Bool = false) -> [BusValue] {
            [.int32(link), .text(name), .boolean(routeOnly)]
        }
        let view = ResolverView(
            servers: [
                server(0, [192, 0, 2, 1]), server(2, [192, 0, 2, 2]), server(7, [10, 7, 0, 1]), server(2, [1, 2]), [],
            ],
            domains: [
                domain(0, "a.example"), domain(2, "b.example"), domain(2, "a.example"), domain(7, "tunnel.example"),
                domain(2, ".", routeOnly: true), domain(2, "c.example", routeOnly: true), [],
            ],
            link: 2)
        #expect(view.servers == ["192.0.2.1", "192.0.2.2"])
        #expect(view.searchDomains == ["a.example", "b.example"])
    }

    @Test(
        "Our own resolv.conf is looked through to the one before it",
        .enabled(if: NetworkNamespace.isAvailable, "needs root: namespaces"))
    func ownFile() throws {
        try NetworkNamespace.run(withMounts: true) {
            let folder = NSTemporaryDirectory() + "/phview-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try NetworkNamespace.shell(
                ResolverRoom.privateFolders(folder) + """
                    rm -f /etc/resolv.conf
                    printf 'nameserver 192.0.2.53\\nsearch office.example\\n' >/etc/resolv.conf
                    """)
            let before = try ResolverView.current(link: nil) { _ in false }
            #expect(before == ResolverView(text: "nameserver 192.0.2.53\nsearch office.example"))
            let configuration = ResolverConfiguration(
                servers: [try #require(IPAddress("10.7.0.1"))], domains: [], isDefault: true)
            let link = Link(index: 7, name: "phtun0", flags: 1, mtu: 1500)
            try SystemResolver.file().set(configuration, on: link)
            #expect(SystemResolver.text("/etc/resolv.conf").contains("10.7.0.1"))
            #expect(try ResolverView.current(link: nil) { _ in false } == before)
            try SystemResolver.file().set(nil, on: link)
            #expect(try ResolverView.current(link: nil) { _ in false } == before)
        }
    }
}
