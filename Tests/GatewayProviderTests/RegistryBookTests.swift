import Foundation
import GatewayRegistry
import ProviderKit
import SettingsPush
import Synchronization
import Testing
import WireGuard

@testable import GatewayProvider

@Suite("The registry's file as the gateway keeps it")
struct RegistryBookTests {
    private func notes(_ leases: [String: GatewayNotes.LeaseNote], areUrgent: Bool = false) -> GatewayNotes {
        var notes = GatewayNotes()
        notes.leases = leases
        notes.areUrgent = areUrgent
        return notes
    }

    @Test("What an operator changed is seen by the next look")
    func operatorsChange() throws {
        let scratch = try Scratch(peers: "alice")
        var book = try scratch.book()
        try book.synchronize(GatewayNotes(), now: 1000)
        let first = book.contents
        try scratch.change { try $0.addRoute(IPPrefix.strict("10.20.0.0/16"), .included, for: .gateway) }
        try book.synchronize(GatewayNotes(), now: 1001)
        let second = book.contents
        #expect(first.routes.isEmpty && second.routes.count == 1)
        #expect(second.versions["alice"]?.serial == 2)
    }

    @Test("Renewals wait for their batch; the last call writes everything")
    func batches() throws {
        let scratch = try Scratch(peers: "alice", "bob")
        var book = try scratch.book()
        try book.synchronize(notes(["alice": .heard(at: 1001)]), now: 1001)
        #expect(try scratch.contents().leases.leases(of: "alice").allSatisfy { $0.expiry == nil })
        try book.synchronize(GatewayNotes(), now: 1020)
        #expect(try scratch.contents().leases.leases(of: "alice").allSatisfy { $0.expiry == 4601 })
        try book.synchronize(notes(["alice": .released(at: 1021), "gone": .heard(at: 1021)]), now: 1021, isLast: true)
        #expect(try scratch.contents().held("alice").isEmpty)
        #expect(try scratch.contents().held("bob").count == 2, "a peer that was never heard keeps its addresses")
    }

    @Test("A lease that nobody renewed ends; renewals that waited come first")
    func expiry() throws {
        let scratch = try Scratch(lease: 60, peers: "alice", "bob")
        var book = try scratch.book()
        try book.synchronize(
            notes(["alice": .heard(at: 1000), "bob": .heard(at: 1000)], areUrgent: true), now: 1000)
        try book.synchronize(notes(["alice": .heard(at: 1050)]), now: 1065)
        let contents = book.contents
        #expect(contents.held("alice").count == 2 && contents.held("bob").isEmpty)
        let again = try scratch.book(now: 2000)
        let restarted = again.contents
        #expect(
            restarted.leases.leases(of: "alice").allSatisfy { $0.expiry == 2060 }, "nobody could be heard meanwhile")
    }

    @Test("A peer that asks and has none gets its former address at once")
    func urgent() throws {
        let scratch = try Scratch(peers: "alice")
        let former = try scratch.contents().held("alice")
        var book = try scratch.book()
        try book.synchronize(notes(["alice": .heard(at: 1000)]), now: 1020)
        try book.synchronize(notes(["alice": .released(at: 1021)]), now: 1040)
        let released = book.contents
        #expect(released.held("alice").isEmpty)
        try book.synchronize(notes(["alice": .heard(at: 1041)], areUrgent: true), now: 1041)
        let served = book.contents
        #expect(served.held("alice") == former)
    }

    @Test("Results are written with every look")
    func results() throws {
        let scratch = try Scratch(peers: "alice")
        var book = try scratch.book()
        var later = GatewayNotes()
        later.results["alice"] = ReportedResult(
            peer: "alice", receivedAt: 1000, serial: 1, status: .applied, findings: [])
        try book.synchronize(later, now: 1001)
        #expect(try scratch.results()["alice"]?.status == .applied)
    }

    @Test("The keeper tells of changes within seconds, and writes what waits when it ends")
    func keeper() throws {
        let scratch = try Scratch(peers: "alice")
        let now = WallClock.seconds
        let changes = Mutex(0)
        let keeper = try RegistryKeeper { _, _ in }
        try keeper.start(try scratch.book(now: now)) { changes.withLock { $0 += 1 } }
        try scratch.change { try $0.addRoute(IPPrefix.strict("10.20.0.0/16"), .included, for: .gateway) }
        var contents: RegistryContents?
        let clock = ContinuousClock()
        let end = clock.now + .seconds(10)
        while contents == nil, clock.now < end {
            contents = keeper.takeContents()
            if contents == nil { Thread.sleep(forTimeInterval: 0.02) }
        }
        #expect(contents?.routes.count == 1)
        keeper.put(notes(["alice": .heard(at: now)]))
        keeper.stop()
        #expect(changes.withLock { $0 } == 1)
        #expect(try scratch.contents().leases.leases(of: "alice").allSatisfy { $0.expiry == now + 3600 })
        keeper.stop()
    }
}
