/// What the control socket of a tunnel tells about it to anybody who may ask: no secret is in it.
struct TunnelView: Sendable, Equatable {
    /// One peer.
    struct Peer: Sendable, Equatable {
        var publicKey: String
        var hasPresharedKey = false
        var endpoint: String?
        var allowedIPs: [String] = []
        /// Seconds since 1970, 0 for never.
        var latestHandshake: Int64 = 0
        var receivedBytes: UInt64 = 0
        var sentBytes: UInt64 = 0
        /// Seconds, 0 for off.
        var keepaliveInterval = 0
    }

    /// The name of the interface.
    let interface: String
    /// Our public key, nil while we have none.
    private(set) var publicKey: String?
    private(set) var listenPort = 0
    private(set) var firewallMark: UInt32 = 0
    /// Packets that were dropped, by reason.
    private(set) var drops: [String: UInt64] = [:]
    private(set) var peers: [Peer] = []

    /// Reads the reply to the operation `get=view`.
    ///
    /// - Returns: Nil for a reply that is not complete or not of this form.
    init?(interface: String, reply: [UInt8]) {
        self.interface = interface
        var isComplete = false
        for line in reply.split(separator: UInt8(ascii: "\n")) {
            guard let end = line.firstIndex(of: UInt8(ascii: "=")), !isComplete else { return nil }
            // Nothing that a terminal or a reader of metrics could take for more than a value.
            guard
                line.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
            else { return nil }
            let key = String(decoding: line[..<end], as: UTF8.self)
            let value = String(decoding: line[(end + 1)...], as: UTF8.self)
            if key == "errno" {
                guard value == "0" else { return nil }
                isComplete = true
            } else if !read(key, value) {
                return nil
            }
        }
        guard isComplete else { return nil }
    }

    private mutating func read(_ key: String, _ value: String) -> Bool {
        if key == "public_key" {
            guard let name = value.base64OfHex else { return false }
            peers.append(Peer(publicKey: name))
            return true
        }
        let last = peers.count - 1
        return last < 0 ? readInterface(key, value) : peers[last].read(key, value)
    }

    private mutating func readInterface(_ key: String, _ value: String) -> Bool {
        switch key {
        case "own_public_key":
            publicKey = value.base64OfHex
            return publicKey != nil
        case "listen_port": return Int(value).map { listenPort = $0 } != nil
        case "fwmark": return UInt32(value).map { firewallMark = $0 } != nil
        case "dropped_packets":
            let parts = value.split(separator: " ")
            guard parts.count == 2, let count = UInt64(parts[1]) else { return false }
            drops[String(parts[0]), default: 0] += count
            return true
        // A later version may tell more.
        default: return true
        }
    }
}

extension TunnelView.Peer {
    fileprivate mutating func read(_ key: String, _ value: String) -> Bool {
        switch key {
        case "has_preshared_key": hasPresharedKey = value == "true"
        case "endpoint": endpoint = value
        case "allowed_ip": allowedIPs.append(value)
        case "last_handshake_time_sec": return Int64(value).map { latestHandshake = $0 } != nil
        case "rx_bytes": return UInt64(value).map { receivedBytes = $0 } != nil
        case "tx_bytes": return UInt64(value).map { sentBytes = $0 } != nil
        case "persistent_keepalive_interval": return Int(value).map { keepaliveInterval = $0 } != nil
        default: break
        }
        return true
    }
}
