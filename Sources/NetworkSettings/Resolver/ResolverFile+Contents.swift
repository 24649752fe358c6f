import Netlink

extension ResolverFile {
    /// What our file says: the interfaces that have servers, the newest first.
    struct Contents: Equatable {
        /// What one interface wants.
        struct Section: Equatable {
            var interface: String
            var configuration: ResolverConfiguration
        }

        var sections: [Section]
        /// Whether there was a file before ours, so that there is a backup to restore.
        var hasBackup: Bool
    }
}

extension ResolverFile.Contents {
    private static let marker = "# This file is providerhost's while its tunnels are up; do not edit it."
    private static let withBackup = "# The file before it is kept beside it and comes back."
    private static let withoutBackup = "# There was no file before it."
    /// What the C library takes of a file (resolv.conf(5)).
    private static let serverLimit = 3
    private static let searchLimit = 6

    /// Reads a file of ours; nil for a file of somebody else, and for one that was edited into something else.
    init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == Self.marker[...], let second = lines.popFirst() else { return nil }
        guard [Self.withBackup, Self.withoutBackup].contains(String(second)) else { return nil }
        hasBackup = second == Self.withBackup
        sections = lines.compactMap { Section(line: $0) }
    }

    /// The file: an entry for each interface that only we read, then the lines for the C library.
    var text: String {
        var lines = [Self.marker, hasBackup ? Self.withBackup : Self.withoutBackup]
        lines += sections.map(\.line)
        var servers: [IPAddress] = []
        var search: [DomainName] = []
        for configuration in sections.map(\.configuration) {
            servers += configuration.servers.filter { !servers.contains($0) }
            search += configuration.searchDomains.filter { !search.contains($0) }
        }
        lines += servers.prefix(Self.serverLimit).map { "nameserver \($0)" }
        if !search.isEmpty {
            lines.append("search " + search.prefix(Self.searchLimit).map(\.description).joined(separator: " "))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ResolverFile.Contents.Section {
    private static let head = "# tunnel"

    fileprivate var line: String {
        let servers = configuration.servers.map(\.description).joined(separator: ",")
        let search = configuration.searchDomains.map(\.description).joined(separator: ",")
        return "\(Self.head) \(interface) \(servers) \(search)"
    }

    fileprivate init?(line: Substring) {
        guard line.hasPrefix(Self.head + " ") else { return nil }
        let fields = line.dropFirst(Self.head.count + 1).split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let servers = fields[1].split(separator: ",").compactMap { IPAddress(String($0)) }
        let search = fields[2].split(separator: ",").compactMap { DomainName(String($0)) }
        guard !servers.isEmpty else { return nil }
        interface = String(fields[0])
        configuration = ResolverConfiguration(
            servers: servers, domains: search.map { .init(name: $0, isRouteOnly: false) }, isDefault: true)
    }
}
