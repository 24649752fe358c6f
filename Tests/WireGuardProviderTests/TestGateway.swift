import SettingsPush
import Synchronization
import WireGuard

@testable import WireGuardProvider

/// A gateway that offers every peer the snapshot that the test has put there.
final class TestGateway: ControlPlane {
    /// What the test and the gateway share.
    final class Desk: Sendable {
        let snapshot = Mutex<PublishedSnapshot?>(nil)
        let results = Mutex<[SettingsResult]>([])
        let messageCount = Atomic<Int>(0)
        let isReleased = Atomic<Bool>(false)
    }

    private struct Source: SnapshotSource {
        let desk: Desk

        func offer(to peer: PublicKey, families: AddressFamilies) -> SnapshotOffer {
            desk.snapshot.withLock { $0 }.map { .snapshot($0, lease: .standard) } ?? .refused(.capabilityMissing)
        }

        func currentSnapshot(of peer: PublicKey) -> PublishedSnapshot? { desk.snapshot.withLock { $0 } }
    }

    private let desk: Desk
    private let client: PublicKey
    private var source: Source
    private var machine = GatewayMachine(seed: 1)

    init(_ desk: Desk, client: PublicKey) {
        self.desk = desk
        self.client = client
        source = Source(desk: desk)
    }

    func start(now: Instant) {}

    func handleMessage(_ message: [UInt8], from peer: PublicKey, now: Instant) {
        desk.messageCount.add(1, ordering: .relaxed)
        machine.handleMessage(message, from: peer, now: now, source: &source)
    }

    func sessionUp(_ peer: PublicKey, now: Instant) { machine.sessionUp(peer, now: now) }
    func sessionLost(_ peer: PublicKey, now: Instant) { machine.sessionLost(peer) }
    func handleWake(now: Instant) { machine.snapshotChanged(of: client, now: now) }
    var nextTimeout: Instant? { machine.nextTimeout }
    func handleTimeout(now: Instant) { machine.handleTimeout(now: now, source: &source) }

    func pollOutput() -> ControlPlaneOutput? {
        while let output = machine.pollOutput() {
            switch output {
            case .send(let message, let peer): return .send(message, to: peer)
            case .result(let result, _): desk.results.withLock { $0.append(result) }
            case .released: desk.isReleased.store(true, ordering: .relaxed)
            case .refused, .left: break
            }
        }
        return nil
    }
}
