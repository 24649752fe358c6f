import WireGuard

/// The DNS section of a snapshot: resolvers, and the names that they answer for.
public struct DNSOffer: Sendable, Hashable {
    /// How much of the peer's name resolution is meant.
    public enum Mode: UInt8, Sendable, Hashable {
        /// None: no server, no name.
        case none = 0
        /// The names of ``DNSOffer/matchDomains`` and ``DNSOffer/searchDomains``.
        case split = 1
        /// All names.
        case full = 2
    }

    /// How much is meant.
    public let mode: Mode
    /// The resolvers in order of preference, at most 8; none exactly when the mode is none.
    public let servers: [DNSServer]
    /// Domains that complete single-label names, in order of preference, at most 32.
    public let searchDomains: [DomainName]
    /// Domains whose names the servers answer for, at most 256.
    public let matchDomains: [DomainName]

    /// Checks an offer and sorts the match list.
    ///
    /// - Throws: The first item that no snapshot may hold.
    public init(
        mode: Mode, servers: [DNSServer], searchDomains: [DomainName], matchDomains: [DomainName]
    ) throws(SettingsFinding) {
        self.mode = mode
        self.servers = servers
        self.searchDomains = searchDomains
        self.matchDomains = matchDomains.sorted { $0.precedes($1) }
        try check()
    }

    private func check() throws(SettingsFinding) {
        let counts = [
            (servers.count, SnapshotLimits.dnsServerCount), (searchDomains.count, SnapshotLimits.searchDomainCount),
            (matchDomains.count, SnapshotLimits.matchDomainCount),
        ]
        for (count, limit) in counts where count > limit {
            throw SettingsFinding(.tooManyItems).at(.dns, limit)
        }
        guard Set(servers).count == servers.count, Set(searchDomains).count == searchDomains.count,
            Set(matchDomains).count == matchDomains.count
        else { throw SettingsFinding(.duplicate).at(.dns, 0) }
        guard servers.isEmpty == (mode == .none), mode != .none || searchDomains.isEmpty && matchDomains.isEmpty else {
            throw SettingsFinding(.nonCanonical).at(.dns, 0)
        }
    }
}

extension DNSOffer {
    func write(to writer: inout WireWriter) {
        writer.write(mode.rawValue)
        writer.write(UInt8(servers.count))
        for server in servers { server.write(to: &writer) }
        writer.write(UInt8(searchDomains.count))
        for name in searchDomains { writer.write(name) }
        writer.write(UInt16(matchDomains.count))
        for name in matchDomains { writer.write(name) }
    }

    /// Reads a whole section.
    ///
    /// Servers, search list and match list are numbered through for the findings.
    init(from reader: inout WireReader) throws(SettingsFinding) {
        guard let mode = Mode(rawValue: try reader.readUInt8()) else { throw SettingsFinding(.badValue) }
        var index = 0
        let serverCount = Int(try reader.readUInt8())
        guard serverCount <= SnapshotLimits.dnsServerCount else { throw SettingsFinding(.tooManyItems) }
        var servers: [DNSServer] = []
        for _ in 0..<serverCount {
            do throws(SettingsFinding) { servers.append(try DNSServer(from: &reader)) } catch {
                throw error.at(.dns, index)
            }
            index += 1
        }
        let searchCount = Int(try reader.readUInt8())
        guard searchCount <= SnapshotLimits.searchDomainCount else { throw SettingsFinding(.tooManyItems) }
        let search = try Self.readNames(searchCount, &index, &reader)
        let matchCount = Int(try reader.readUInt16())
        guard matchCount <= SnapshotLimits.matchDomainCount else { throw SettingsFinding(.tooManyItems) }
        let match = try Self.readNames(matchCount, &index, &reader)
        try self.init(mode: mode, servers: servers, searchDomains: search, matchDomains: match)
        guard matchDomains == match else { throw SettingsFinding(.unsorted).at(.dns, servers.count + search.count) }
    }

    private static func readNames(
        _ count: Int, _ index: inout Int, _ reader: inout WireReader
    ) throws(SettingsFinding) -> [DomainName] {
        var names: [DomainName] = []
        for _ in 0..<count {
            do throws(SettingsFinding) {
                guard let name = try reader.readName() else { throw SettingsFinding(.badName) }
                names.append(name)
            } catch { throw error.at(.dns, index) }
            index += 1
        }
        return names
    }
}
