import Testing
import WireGuard

@testable import SettingsPush

@Suite("Snapshots have one spelling")
struct SnapshotTests {
    @Test("and come back from it")
    func roundTrip() throws {
        let snapshot = try Examples.snapshot()
        let again = try Snapshot(canonicalBytes: snapshot.canonicalBytes, limits: .standard)
        #expect(again == snapshot)
        #expect(again.canonicalBytes == snapshot.canonicalBytes)
        let empty = try Snapshot(addresses: [], routes: [], excludes: [], dns: nil, mtu: nil, notice: nil)
        #expect(empty.canonicalBytes.isEmpty)
        #expect(try Snapshot(canonicalBytes: [], limits: .standard) == empty)
    }

    @Test("whatever order a registry has them in")
    func order() throws {
        let routes = try Examples.prefixes("fd00::/8", "172.16.0.0/12", "10.0.0.0/8", "0.0.0.0/0", "::/0", "9.0.0.0/8")
        let snapshot = try Snapshot(
            addresses: [], routes: routes, excludes: [], dns: nil, mtu: nil, notice: nil)
        #expect(
            snapshot.routes.map(\.description) == [
                "0.0.0.0/0", "9.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "::/0", "fd00::/8",
            ])
        let reversed = try Snapshot(
            addresses: [], routes: routes.reversed(), excludes: [], dns: nil, mtu: nil, notice: nil)
        #expect(reversed == snapshot)
    }

    @Test("up to the hard limit of routes")
    func largest() throws {
        let snapshot = try Examples.snapshot(routes: 16_384)
        let bytes = snapshot.canonicalBytes
        #expect(try Snapshot(canonicalBytes: bytes, limits: .hard) == snapshot)
        let tooMany = try finding { _ = try Examples.snapshot(routes: 16_385) }
        #expect(tooMany == SettingsFinding(section: 0x8002, index: 16_384, reason: .tooManyItems))
        let overStandard = try finding { _ = try Snapshot(canonicalBytes: bytes, limits: .standard) }
        #expect(overStandard.reason == .oversized)
    }
}
