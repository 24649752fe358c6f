extension Configuration {
    /// The size of the largest file that is read: 16 MiB.
    public static let maximumByteCount = 16 << 20
    /// The size of the longest line that is read: 64 KiB.
    public static let maximumLineByteCount = 64 << 10

    /// Parses a wg-quick file and stops at the first error.
    ///
    /// As in wg(8), the last of a repeated single value wins, lists add up within a section, and a second section with
    /// the same public key updates the peer: its allowed IPs replace the first section's. Stricter than wg(8): one
    /// `[Interface]` section with a private key, no white space inside a value, numeric ports, IPv6 endpoints in brackets.
    /// - Parameter bytes: The whole file; wiping it is the caller's business.
    /// - Throws: The first error, in file order.
    public init(wgQuick bytes: Span<UInt8>) throws(ConfigurationError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw ConfigurationError(line: 1, reason: .fileTooLarge(byteCount: bytes.count))
        }
        var parser = ConfigurationParser()
        var reader = ConfigurationReader(bytes)
        while let line = try reader.nextLine() {
            parser.line = reader.line
            try parser.read(line)
        }
        self = try parser.finish()
    }

    /// Parses a wg-quick file that is at hand as text.
    public init(wgQuick text: String) throws(ConfigurationError) {
        try self.init(wgQuick: text.utf8Span.span)
    }
}

/// Collects sections line by line; one value parses one file.
struct ConfigurationParser: ~Copyable {
    /// The number of the line that is being read, from 1.
    var line = 1
    private var section: ConfigurationSection?
    private var interfaceLine: Int?
    private var privateKey: PrivateKey?
    // The zero key stands in until `finish` puts the real one, or refuses.
    private var interface = Configuration.Interface(privateKey: PrivateKey(.zero))
    private var peer = PeerDraft(line: 0)
    private var peers: [Configuration.Peer] = []
    private var peerIndices: [PublicKey: Int] = [:]

    /// What a `[Peer]` section has said so far; nil is unsaid, which matters when it updates an earlier section.
    private struct PeerDraft {
        let line: Int
        var publicKey: PublicKey?
        var presharedKey: PresharedKey?
        var allowedIPs: [IPPrefix] = []
        var endpoint: Configuration.PeerEndpoint?
        var persistentKeepalive: UInt16?
        var friendlyName: String?
    }

    /// Reads a line whose surrounding white space is gone.
    mutating func read(_ line: Span<UInt8>) throws(ConfigurationError) {
        let comment = line.firstOffset(of: UInt8(ascii: "#")) ?? line.count
        let content = line.extracting(0..<comment).trimmed
        guard !content.isEmpty else {
            try readComment(line.extracting(comment..<line.count))
            return
        }
        if content[0] == UInt8(ascii: "[") {
            try readSection(content)
            return
        }
        guard let equals = content.firstOffset(of: UInt8(ascii: "=")) else {
            throw error(.notAnAssignment(ConfigurationError.excerpt(firstWordOf: content)))
        }
        let key = try key(content.extracting(0..<equals).trimmed)
        // A '#' in a hook is the shell's: only there it starts no comment.
        let end = key.hookMoment == nil ? content.count : line.count
        try read(key, line.extracting(equals + 1..<end).trimmed)
    }

    /// Checks what only the whole file shows, and gives the result.
    consuming func finish() throws(ConfigurationError) -> Configuration {
        try endSection()
        guard let interfaceLine else { throw error(.missingInterface) }
        guard let privateKey else { throw ConfigurationError(line: interfaceLine, reason: .missingPrivateKey) }
        interface.privateKey = privateKey
        return Configuration(interface: interface, peers: peers)
    }

    private func error(_ reason: ConfigurationError.Reason) -> ConfigurationError {
        ConfigurationError(line: line, reason: reason)
    }

    private mutating func readSection(_ header: Span<UInt8>) throws(ConfigurationError) {
        try endSection()
        let inner = header.extracting(1..<max(1, header.count - 1)).trimmed
        let closed = header[header.count - 1] == UInt8(ascii: "]")
        guard closed, let section = ConfigurationSection.allCases.first(where: { inner.spells($0.rawValue) }) else {
            throw error(.unknownSection(ConfigurationError.excerpt(header)))
        }
        if section == .interface {
            if let interfaceLine { throw error(.repeatedInterface(firstLine: interfaceLine)) }
            interfaceLine = line
        } else {
            peer = PeerDraft(line: line)
        }
        self.section = section
    }

    private mutating func endSection() throws(ConfigurationError) {
        guard section == .peer else { return }
        guard let publicKey = peer.publicKey else {
            throw ConfigurationError(line: peer.line, reason: .missingPublicKey)
        }
        let index = peerIndices[publicKey] ?? peers.count
        if index == peers.count {
            peers.append(Configuration.Peer(publicKey: publicKey))
            peerIndices[publicKey] = index
        }
        if let presharedKey = peer.presharedKey { peers[index].presharedKey = presharedKey.isZero ? nil : presharedKey }
        if let endpoint = peer.endpoint { peers[index].endpoint = endpoint }
        if let seconds = peer.persistentKeepalive { peers[index].persistentKeepalive = seconds }
        if let name = peer.friendlyName { peers[index].friendlyName = name }
        peers[index].allowedIPs = peer.allowedIPs
    }

    private func key(_ name: Span<UInt8>) throws(ConfigurationError) -> ConfigurationKey {
        guard let key = ConfigurationKey.allCases.first(where: { name.spells($0.rawValue) }) else {
            throw error(.unknownKey(ConfigurationError.excerpt(firstWordOf: name), section: section))
        }
        guard let section else { throw error(.outsideSection(key)) }
        guard section == key.section else { throw error(.wrongSection(key)) }
        return key
    }

    /// Takes what a comment says to us; one that is a comment only, or stands in the other section, says nothing.
    private mutating func readComment(_ comment: Span<UInt8>) throws(ConfigurationError) {
        guard let section, let equals = comment.firstOffset(of: UInt8(ascii: "=")) else { return }
        let name = comment.extracting(1..<equals).trimmed
        guard let key = CommentKey.allCases.first(where: { name.spells($0.rawValue) }), key.section == section,
            let value = comment.extracting(equals + 1..<comment.count).trimmed.text, !value.isEmpty
        else { return }
        switch key {
        case .friendlyName: peer.friendlyName = value
        case .threads:
            guard let number = DecimalField(value.utf8Span.span, maximum: 255),
                Configuration.threadCounts.contains(Int(number.value))
            else { throw invalid(value, in: key) }
            interface.threads = Int(number.value)
        case .switchOff:
            do throws(PathFeature.Unknown) {
                interface.switchedOff.formUnion(try PathFeature.parse(value))
            } catch {
                throw invalid(error.item, in: key)
            }
        case .matchDomains:
            for item in value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                guard HostName.isValid(item) else { throw invalid(String(item), in: key) }
                interface.matchDomains.append(String(item))
            }
        }
    }

    private func invalid(_ item: String, in key: CommentKey) -> ConfigurationError {
        error(.invalidComment(key, text: ConfigurationError.excerpt(item.utf8Span.span)))
    }

    private mutating func read(_ key: ConfigurationKey, _ bytes: Span<UInt8>) throws(ConfigurationError) {
        guard let text = bytes.text else { throw error(.notText) }
        let value = ConfigurationValue(key: key, text: text, line: line)
        switch key {
        case .privateKey: privateKey = try PrivateKey(value.key256())
        case .listenPort: interface.listenPort = UInt16(try value.number(in: 0...65_535))
        case .firewallMark: interface.firewallMark = try value.mark()
        case .address: interface.addresses += try value.addresses()
        case .dns: try value.readDNS(servers: &interface.dnsServers, domains: &interface.searchDomains)
        case .mtu: interface.mtu = Int(try value.number(in: 576...65_535))
        case .table: interface.table = try value.table()
        case .saveConfiguration: interface.savesConfiguration = try value.boolean()
        case .publicKey: peer.publicKey = try PublicKey(value.key256())
        case .presharedKey: peer.presharedKey = try value.presharedKey()
        case .allowedIPs: peer.allowedIPs += try value.networks()
        case .endpoint: peer.endpoint = try value.endpoint()
        case .persistentKeepalive: peer.persistentKeepalive = try value.keepalive()
        case .preUp, .postUp, .preDown, .postDown:
            // Programs that write files leave unused hooks empty.
            guard let moment = key.hookMoment, !text.isEmpty else { return }
            interface.hooks.append(Configuration.Hook(moment: moment, command: text, line: line))
        }
    }
}
