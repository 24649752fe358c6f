import GatewayRegistry
import ProviderKit

/// The registry's file as the gateway keeps it: notes go in, and out comes what operators or the notes changed.
///
/// Renewals and given-back leases are written in batches, so that a thousand clients that start at once cost one transaction,
/// and a client that starts again at once finds its lease as it was.
struct RegistryBook: ~Copyable {
    /// How long notes about leases wait, in seconds; well below the shortest lease.
    private static let batchSeconds: Int64 = 20

    /// What the file holds.
    private(set) var contents: RegistryContents

    private let registry: Registry
    private var fileVersion: Int64
    private var lastWrite: Int64
    private var notes = GatewayNotes()

    /// Opens the registry of a folder; leases begin anew, because nobody could be heard while the gateway was down.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - now: Seconds since 1970.
    /// - Throws: ``RegistryErrorCode/notInitialized`` or ``RegistryErrorCode/unusableFile``.
    init(folder: String, now: Int64) throws(RegistryError) {
        let opened = try Registry(folder: folder)
        // Read first: a change that comes in between is seen by the next look.
        let version = try opened.dataVersion
        let contents = try opened.change { contents throws(RegistryError) in contents.extendLeases(now: now) }
        self.init(opened, contents, version, now)
    }

    private init(_ registry: consuming Registry, _ contents: RegistryContents, _ version: Int64, _ now: Int64) {
        self.registry = registry
        self.contents = contents
        fileVersion = version
        lastWrite = now
    }

    /// Writes what is due of the notes, and reads what others changed.
    ///
    /// - Parameters:
    ///   - later: What was noted since the last call.
    ///   - now: Seconds since 1970.
    ///   - isLast: Whether everything is due.
    /// - Throws: ``RegistryErrorCode/unusableFile``; the notes are kept for the next call.
    mutating func synchronize(
        _ later: GatewayNotes, now: Int64, isLast: Bool = false
    ) throws(RegistryError) {
        notes.merge(later)
        if !notes.results.isEmpty {
            try registry.record(Array(notes.results.values))
            notes.results = [:]
        }
        let isDue = isLast || notes.areUrgent || now - lastWrite >= Self.batchSeconds
        if isDue {
            if !notes.leases.isEmpty || hasEndedLease(now) { try writeLeases(now) }
            lastWrite = now
        }
        let version = try registry.dataVersion
        guard version != fileVersion else { return }
        contents = try registry.contents()
        fileVersion = version
    }

    private mutating func writeLeases(_ now: Int64) throws(RegistryError) {
        let leases = notes.leases
        contents = try registry.change { contents throws(RegistryError) in
            var random = SystemRandomNumberGenerator()
            for (name, note) in leases where contents.peers[name] != nil {
                switch note {
                case .heard(let second):
                    do throws(RegistryError) {
                        try contents.renew(name, now: second, random: &random)
                    } catch {
                        // Who gets no address is told so when it asks again.
                        guard error.code == .poolExhausted else { throw error }
                    }
                case .released(let second): contents.release(name, now: second)
                }
            }
            _ = contents.expireLeases(now: now)
        }
        notes.leases = [:]
        notes.areUrgent = false
    }

    private func hasEndedLease(_ now: Int64) -> Bool {
        contents.leases.byAddress.values.contains { $0.isHeld && $0.expiry.map { $0 <= now } == true }
    }
}
