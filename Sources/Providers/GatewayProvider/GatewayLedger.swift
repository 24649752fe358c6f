import GatewayRegistry
import ProviderKit
import SettingsPush
import WireGuard

/// The registry as the control thread knows it: what operators wrote, and notes of what clients said since.
///
/// All answers come from memory. Addresses are given out by ``RegistryKeeper``, which alone has the file.
struct GatewayLedger {
    /// When a client asks again that finds the pools used up.
    private static let exhaustedRetrySeconds: UInt32 = 60
    /// How often a client is told to wait a second for an address before it is told that there is none.
    private static let searches = 3

    /// Everything that decides what the gateway does.
    var contents: RegistryContents
    /// What the keeper has not taken yet.
    private var notes = GatewayNotes()
    /// How often peers asked that have no address.
    private var waiting: [PublicKey: Int] = [:]
    /// Seconds since 1970.
    private let wallClock: @Sendable () -> Int64

    init(_ contents: RegistryContents, wallClock: @escaping @Sendable () -> Int64) {
        self.contents = contents
        self.wallClock = wallClock
    }

    /// The notes since the last call.
    mutating func takeNotes() -> GatewayNotes {
        defer { notes = GatewayNotes() }
        return notes
    }

    /// Keeps what became of a snapshot at a peer.
    ///
    /// - Returns: The peer's name, nil if it is gone.
    mutating func note(_ result: SettingsResult, of key: PublicKey) -> String? {
        guard let peer = contents.peer(with: key) else { return nil }
        notes.results[peer.name] = ReportedResult(
            peer: peer.name, receivedAt: wallClock(), serial: result.version.serial, status: result.status,
            findings: result.findings)
        return peer.name
    }

    /// Keeps that a peer was offered nothing, and why.
    mutating func noteRefusal(_ reason: ReasonCode, of key: PublicKey) {
        guard let peer = contents.peer(with: key) else { return }
        notes.results[peer.name] = ReportedResult(
            peer: peer.name, receivedAt: wallClock(), serial: contents.versions[peer.name]?.serial ?? 0,
            status: .rejected, findings: [SettingsFinding(reason)])
    }

    /// Keeps that a peer gave its addresses back.
    mutating func noteRelease(of key: PublicKey) {
        guard let peer = contents.peer(with: key) else { return }
        notes.leases[peer.name] = .released(at: wallClock())
    }
}

extension GatewayLedger: SnapshotSource {
    mutating func offer(to key: PublicKey, families: AddressFamilies) -> SnapshotOffer {
        guard let peer = contents.peer(with: key), peer.state != .disabled else { return .refused(.staleVersion) }
        notes.leases[peer.name] = .heard(at: wallClock())
        guard holdsAddresses(peer.name) else {
            notes.areUrgent = true
            waiting[key, default: 0] += 1
            return waiting[key, default: 0] <= Self.searches
                ? .busy(retryAfterSeconds: 1) : .poolExhausted(retryAfterSeconds: Self.exhaustedRetrySeconds)
        }
        waiting[key] = nil
        guard let snapshot = currentSnapshot(of: key) else { return .refused(.tooManyItems) }
        return .snapshot(snapshot, lease: LeaseDuration(seconds: contents.gateway.leaseSeconds))
    }

    func currentSnapshot(of key: PublicKey) -> PublishedSnapshot? {
        guard let peer = contents.peer(with: key), peer.state != .disabled else { return nil }
        return try? contents.publishedSnapshot(of: peer.name)
    }

    /// Whether a peer has an address of each family that the pools have.
    private func holdsAddresses(_ name: String) -> Bool {
        let held = contents.leases.leases(of: name).filter(\.isHeld).map(\.address.bitWidth)
        return contents.pools.allSatisfy { held.contains($0.prefix.address.bitWidth) }
    }
}
