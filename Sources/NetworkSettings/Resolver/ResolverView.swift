public import Netlink

/// The DNS servers and search domains that a network gives to the machine: what tunnels of ours have set is left out.
public struct ResolverView: Hashable, Sendable {
    /// The addresses of the servers, in one spelling.
    public var servers: [String]
    /// The domains that complete names, in one spelling.
    public var searchDomains: [String]

    /// A machine without servers.
    public static let empty = ResolverView(servers: [], searchDomains: [])

    /// Files and folders in which something changes when the view does; not all of them are there.
    public static let paths = [
        "/etc", SystemResolver.filePath, "/run/systemd/resolve", "/run/NetworkManager", recordFolders[0],
        recordFolders[1],
    ]
    /// The records that resolvconf has of each interface: Debian's program, and openresolv.
    private static let recordFolders = ["/run/resolvconf/interface", "/run/resolvconf/interfaces"]

    /// What the machine uses now.
    ///
    /// - Parameters:
    ///   - link: The interface that leads out of the machine: of several, systemd-resolved has servers for each.
    ///   - isOwn: Whether an interface of this name is a tunnel of ours.
    /// - Returns: The view; an empty one for a machine without servers.
    /// - Throws: ``ResolverError`` when systemd-resolved does not answer: the view is then unknown.
    public static func current(link: Link?, isOwn: (String) -> Bool) throws(ResolverError) -> ResolverView {
        let file = SystemResolver.text(SystemResolver.filePath)
        if SystemResolver.asksResolved(file: file, switches: SystemResolver.text("/etc/nsswitch.conf")) {
            return try SystemdResolved().view(link: link?.index ?? 0)
        }
        if let ours = ResolverFile.Contents(file) {
            let backup = ResolverFile(path: SystemResolver.filePath).backup
            return ours.hasBackup ? ResolverView(text: SystemResolver.text(backup)) : .empty
        }
        if SystemResolver.isFromResolvconf(file), let records = records(isOwn) { return records }
        return ResolverView(text: file)
    }

    /// Reads a file of the C library's resolver (resolv.conf(5)): of several lists of domains the last one counts.
    init(text: String) {
        self = .empty
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            switch words.first {
            case "nameserver": if words.count > 1 { add(server: String(words[1])) }
            case "search", "domain":
                searchDomains = words.dropFirst().compactMap { DomainName(String($0))?.description }
            default: continue
            }
        }
    }

    /// Reads what systemd-resolved says of all interfaces; number 0 stands for none of them.
    init(servers: [[BusValue]], domains: [[BusValue]], link: Int32) {
        self = .empty
        for fields in servers where fields.count == 3 {
            guard
                case (.int32(let index), .int32(let family), .array(_, let values)) = (fields[0], fields[1], fields[2]),
                [0, link].contains(index), let family = AddressFamily(rawValue: UInt8(clamping: family))
            else { continue }
            let bytes = values.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
            if let server = IPAddress(family: family, bytes: bytes) { add(server: server.description) }
        }
        for fields in domains where fields.count == 3 {
            guard case (.int32(let index), .text(let name), .boolean(false)) = (fields[0], fields[1], fields[2]),
                [0, link].contains(index), let domain = DomainName(name)?.description
            else { continue }
            if !searchDomains.contains(domain) { searchDomains.append(domain) }
        }
    }

    private init(servers: [String], searchDomains: [String]) {
        self.servers = servers
        self.searchDomains = searchDomains
    }

    private mutating func add(server text: String) {
        // An address may have a zone.
        let server = IPAddress(String(text.prefix { $0 != "%" }))?.description
        if let server, !servers.contains(server) { servers.append(server) }
    }

    /// All records of resolvconf but those of our tunnels; nil where it keeps none.
    private static func records(_ isOwn: (String) -> Bool) -> ResolverView? {
        guard let folder = recordFolders.first(where: { !FolderNames.list($0).isEmpty }) else { return nil }
        var view = ResolverView.empty
        for name in FolderNames.list(folder).sorted() where !isOwn(ResolvconfProgram.interface(ofRecord: name)) {
            let record = ResolverView(text: SystemResolver.text("\(folder)/\(name)"))
            for server in record.servers { view.add(server: server) }
            view.searchDomains += record.searchDomains.filter { !view.searchDomains.contains($0) }
        }
        return view
    }
}
