import Foundation
import Netlink
import TestSupport
import Testing

@testable import NetworkSettings

/// Against openresolv and Debian's resolvconf, each in a private /etc, /run and /usr/lib.
@Suite("resolvconf", .serialized, .enabled(if: NetworkNamespace.isAvailable, "needs root: namespaces"))
struct ResolvconfTests {
    enum Kind: String, CaseIterable {
        case openresolv, resolvconf

        var folder: String { ResolverRoom.packages + "/" + rawValue }
        var isThere: Bool { ResolverRoom.isExecutable(folder + "/sbin/resolvconf") }
    }

    private static func withProgram(
        _ kind: Kind, _ body: @escaping @Sendable (any Resolver) throws -> Void
    ) throws {
        try NetworkNamespace.run(withMounts: true) {
            let folder = NSTemporaryDirectory() + "/phconf-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try NetworkNamespace.shell(
                ResolverRoom.privateFolders(folder) + """
                    mkdir -p \(folder)/lib /run/resolvconf/interface
                    cp -a \(kind.folder)/lib/resolvconf \(folder)/lib/
                    mount -t overlay overlay -o lowerdir=\(folder)/lib:/usr/lib /usr/lib
                    mount -t tmpfs tmpfs /usr/local/sbin
                    cp \(kind.folder)/sbin/resolvconf /usr/local/sbin/
                    cp -a \(kind.folder)/etc/. /etc/
                    rm -f /etc/resolv.conf
                    if [ \(kind.rawValue) = resolvconf ]; then
                        ln -s /run/resolvconf/resolv.conf /etc/resolv.conf
                        /usr/local/sbin/resolvconf --enable-updates
                    fi
                    printf 'nameserver 192.0.2.53\\n' | /usr/local/sbin/resolvconf -a eth0
                    """)
            let resolver = try SystemResolver.detect()
            #expect(resolver.name == "resolvconf")
            try body(resolver)
        }
    }

    @Test(
        "servers come first, and go again",
        .enabled(if: Kind.allCases.allSatisfy(\.isThere), "needs the unpacked packages"),
        arguments: Kind.allCases)
    func setAndSweep(kind: Kind) throws {
        try Self.withProgram(kind) { resolver in
            func text() throws -> String { try String(contentsOfFile: "/etc/resolv.conf", encoding: .utf8) }
            let before = try text()
            #expect(before.contains("192.0.2.53"))
            let link = Link(index: 7, name: "phtun0", flags: 1, mtu: 1420)
            let server = try #require(IPAddress("10.7.0.1"))
            let name = try #require(DomainName("a.example"))
            let wanted = ResolverConfiguration(
                servers: [server], domains: [.init(name: name, isRouteOnly: false)], isDefault: true)
            var part = wanted
            part.isDefault = false
            #expect(resolver.limitation(wanted) == nil && resolver.limitation(part) != nil)
            try resolver.set(wanted, on: link)
            let servers = try text().split(separator: "\n").filter { $0.hasPrefix("nameserver") }
            #expect(servers.first == "nameserver 10.7.0.1")
            #expect(try text().contains("search a.example"))
            if kind == .openresolv { #expect(servers.count == 1, "openresolv knows exclusive servers") }
            #expect(try ResolverView.current(link: nil) { $0 == "phtun0" }.servers == ["192.0.2.53"])
            #expect(try SystemResolver.sweep { $0 != "phtun0" } == [])
            #expect(try SystemResolver.sweep { $0 == "phtun0" } == ["phtun0"])
            #expect(try text() == before)
            try resolver.set(wanted, on: link)
            try resolver.set(nil, on: link)
            try resolver.set(nil, on: link)
            #expect(try text() == before)
        }
    }
}
