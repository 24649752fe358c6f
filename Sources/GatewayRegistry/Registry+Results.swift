public import ProviderKit
internal import SQLite
public import SettingsPush

/// The last word of a client about what it was pushed.
public struct ReportedResult: Sendable, Equatable {
    /// The name of the peer.
    public let peer: String
    /// When it came, in seconds since 1970.
    public let receivedAt: Int64
    /// The serial that it is about.
    public let serial: UInt64
    /// What became of it.
    public let status: SettingsResult.Status
    /// The items that were refused, changed or noted.
    public let findings: [SettingsFinding]

    /// Notes what a client said.
    public init(
        peer: String, receivedAt: Int64, serial: UInt64, status: SettingsResult.Status, findings: [SettingsFinding]
    ) {
        self.peer = peer
        self.receivedAt = receivedAt
        self.serial = serial
        self.status = status
        self.findings = findings
    }
}

extension Registry {
    /// The last result of every peer that has sent one, by name.
    ///
    /// - Throws: ``RegistryErrorCode/unusableFile``.
    public func results() throws(RegistryError) -> [String: ReportedResult] {
        let rows = try guarded {
            try database.rows(RegistryTable.results.select) { row in
                ReportedResult(
                    peer: row.text(0), receivedAt: row.integer(1), serial: UInt64(bitPattern: row.integer(2)),
                    status: SettingsResult.Status(rawValue: UInt8(truncatingIfNeeded: row.integer(3))) ?? .failed,
                    findings: [SettingsFinding](storedBytes: row.bytes(4)))
            }
        }
        return Dictionary(rows.map { ($0.peer, $0) }) { $1 }
    }

    /// Keeps results in the place of the earlier ones of their peers; those of peers that are gone are passed over.
    ///
    /// - Throws: ``RegistryErrorCode/unusableFile``.
    public func record(_ results: [ReportedResult]) throws(RegistryError) {
        try guarded {
            try database.transaction {
                var known = try database.prepare("SELECT 1 FROM peers WHERE name = ?")
                var upsert = try database.prepare(RegistryTable.results.upsert)
                for result in results {
                    try known.bind([.text(result.peer)])
                    guard try known.step() else { continue }
                    try upsert.bind([
                        .text(result.peer), .integer(result.receivedAt), .integer(Int64(bitPattern: result.serial)),
                        .integer(Int64(result.status.rawValue)), .blob(result.findings.storedBytes),
                    ])
                    while try upsert.step() {}
                }
            }
        }
    }
}

/// Findings as bytes: section, index and reason of each, 16 bits, big-endian.
extension [SettingsFinding] {
    fileprivate var storedBytes: [UInt8] {
        flatMap { [$0.section, $0.index, $0.reason.rawValue] }.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }

    fileprivate init(storedBytes bytes: [UInt8]) {
        self = stride(from: 0, to: bytes.count - bytes.count % 6, by: 6).map { start in
            func number(_ index: Int) -> UInt16 {
                UInt16(bytes[start + 2 * index]) << 8 | UInt16(bytes[start + 2 * index + 1])
            }
            return SettingsFinding(section: number(0), index: number(1), reason: ReasonCode(rawValue: number(2)))
        }
    }
}
