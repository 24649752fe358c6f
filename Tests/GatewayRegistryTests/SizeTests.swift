import Foundation
import GatewayRegistry
import Testing
import WireGuard

/// How much a large registry takes; the figures are those of a debug build and leave room.
@Suite("Registry: 10,000 peers", .serialized)
struct SizeTests {
    /// The resident memory of this process that is not shared with a file, in bytes.
    private func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.split(separator: " ").dropLast().last.map(String.init) ?? "")) * 1024
    }

    @Test("10,000 leases fit 50 MB, are stored and read back, and one change of all of them is one transaction")
    func tenThousand() throws {
        let scratch = Scratch()
        var contents = try makeContents("10.0.0.0/16", "fd07::/64")
        let before = try residentBytes()
        for index in 0..<10_000 {
            try contents.add(makePeer("peer\(index)", group: "g\(index % 10)"), seed: UInt64(index))
        }
        let grown = try residentBytes() - before
        #expect(grown < 50 << 20, "\(grown >> 20) MiB")
        #expect(contents.leases.byAddress.count == 20_000)

        try Registry.create(in: scratch.path, contents)
        let registry = try Registry(folder: scratch.path)
        let route = try prefix("172.16.0.0/12")
        let changed = try registry.change { contents throws(RegistryError) in
            try contents.addRoute(route, .included, for: .gateway)
        }
        #expect(changed.versions.values.allSatisfy { $0.serial == 2 })
        #expect(try registry.contents() == changed)
    }
}
