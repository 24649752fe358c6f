/// The lines of a `set` operation.
extension ControlSettings {
    /// Takes one line; false if the protocol has no such key, or not this value for it.
    mutating func read(_ key: String, _ value: String) -> Bool {
        if key == "public_key" {
            guard let name = Key256(hex: value) else { return false }
            peers.append(Peer(PublicKey(name)))
            return true
        }
        // From the first public key on, all lines are about the last peer that was named.
        let last = peers.count - 1
        return last < 0 ? readInterface(key, value) : peers[last].read(key, value)
    }

    private mutating func readInterface(_ key: String, _ value: String) -> Bool {
        switch key {
        case "private_key":
            guard let secret = Key256(hex: value) else { return false }
            privateKey = secret.isZero ? .clear : .set(PrivateKey(secret))
        case "listen_port":
            guard let field = DecimalField(value, maximum: 65_535) else { return false }
            listenPort = UInt16(field.value)
        case "fwmark":
            guard let field = DecimalField(value, maximum: .max) else { return false }
            firewallMark = field.value
        case "replace_peers":
            guard value == "true" else { return false }
            replacesPeers = true
        default: return false
        }
        return true
    }
}

extension ControlSettings.Peer {
    fileprivate mutating func read(_ key: String, _ value: String) -> Bool {
        switch key {
        case "allowed_ip": return readAllowedIP(value)
        case "preshared_key":
            guard let secret = Key256(hex: value) else { return false }
            presharedKey = PresharedKey(secret)
        case "endpoint":
            guard let place = Configuration.PeerEndpoint(numeric: value) else { return false }
            endpoint = place
        case "persistent_keepalive_interval":
            guard let field = DecimalField(value, maximum: 65_535) else { return false }
            keepaliveInterval = UInt16(field.value)
        case "replace_allowed_ips":
            guard value == "true" else { return false }
            replacesAllowedIPs = true
            allowedIPs = []
        case "remove":
            guard value == "true" else { return false }
            isRemoved = true
        case "update_only":
            guard value == "true" else { return false }
            updatesOnly = true
        case "protocol_version": return value == "1"
        default: return false
        }
        return true
    }

    private mutating func readAllowedIP(_ value: String) -> Bool {
        let isRemoval = value.utf8.first == UInt8(ascii: "-")
        let prefix = IPPrefix(isRemoval ? value.dropFirst() : value[...])
        guard let prefix else { return false }
        allowedIPs.append(ControlSettings.AllowedIPChange(prefix: prefix, isRemoval: isRemoval))
        return true
    }
}

extension Configuration.PeerEndpoint {
    /// Parses an address and port without a look-up; wg(8) writes a link-local one with the name of its interface.
    fileprivate init?(numeric text: String) {
        if let endpoint = Endpoint(text) {
            self = .address(endpoint)
            return
        }
        guard text.utf8.first == UInt8(ascii: "["), let end = text.lastIndex(of: "]"),
            let port = DecimalField(text[text.index(after: end)...].dropFirst(), maximum: 65_535),
            text[text.index(after: end)...].utf8.first == UInt8(ascii: ":")
        else { return nil }
        let host = text[..<end].dropFirst()
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(parts[0]), case .v6 = address, HostName.isInterface(parts[1])
        else { return nil }
        self = .name(String(host), port: UInt16(port.value))
    }
}
