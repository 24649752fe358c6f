/// How much a status tells.
public enum StatusDetail: Sendable {
    /// All that `get=1` of the protocol tells.
    case everything
    /// The same without the keys that are secret.
    case withoutSecrets
    /// The same with our public key, and with whether a preshared key is set.
    case view
}

/// What the control protocol shows of this end of a tunnel.
public struct InterfaceStatus: Sendable, Equatable {
    /// The static private key, nil if none is set.
    public var privateKey: PrivateKey?
    /// The UDP port, 0 while none is known.
    public var listenPort: UInt16
    /// The mark of outer packets, 0 for none.
    public var firewallMark: UInt32

    /// Describes an end.
    public init(privateKey: PrivateKey?, listenPort: UInt16, firewallMark: UInt32) {
        self.privateKey = privateKey
        self.listenPort = listenPort
        self.firewallMark = firewallMark
    }

    /// The first lines of the reply to `get`.
    public func lines(_ detail: StatusDetail) -> String {
        var text = ""
        if let privateKey {
            switch detail {
            case .everything: text += "private_key=\(privateKey.key.hex)\n"
            case .withoutSecrets: break
            case .view: text += "own_public_key=\(privateKey.publicKey.key.hex)\n"
            }
        }
        if listenPort != 0 { text += "listen_port=\(listenPort)\n" }
        if firewallMark != 0 { text += "fwmark=\(firewallMark)\n" }
        return text
    }
}

/// What the control protocol shows of a peer.
public struct PeerStatus: Sendable, Equatable {
    /// The part that the control half knows.
    public var description: PeerDescription
    /// Where the peer is now.
    public var endpoint: Endpoint?
    /// What moved through it.
    public var traffic: PeerTraffic
    /// The networks behind it.
    public var allowedIPs: [IPPrefix]

    /// Describes a peer.
    public init(description: PeerDescription, endpoint: Endpoint?, traffic: PeerTraffic, allowedIPs: [IPPrefix]) {
        self.description = description
        self.endpoint = endpoint
        self.traffic = traffic
        self.allowedIPs = allowedIPs
    }

    /// The peer's lines of the reply to `get`, but for those of its allowed IPs, which come next.
    public func lines(_ detail: StatusDetail) -> String {
        var text = "public_key=\(description.publicKey.key.hex)\n"
        switch detail {
        case .everything: text += "preshared_key=\(description.presharedKey.key.hex)\n"
        case .withoutSecrets: break
        case .view: if !description.presharedKey.isZero { text += "has_preshared_key=true\n" }
        }
        text += "protocol_version=1\n"
        if let endpoint { text += "endpoint=\(endpoint)\n" }
        text += """
            last_handshake_time_sec=\(description.lastHandshake?.unixSeconds ?? 0)
            last_handshake_time_nsec=\(description.lastHandshake?.nanoseconds ?? 0)
            tx_bytes=\(traffic.sentBytes)
            rx_bytes=\(traffic.receivedBytes)
            persistent_keepalive_interval=\(description.keepaliveInterval)

            """
        return text
    }

    /// The lines of some allowed IPs: a peer may have so many that a reply is made of pieces.
    public static func lines(of allowedIPs: some Sequence<IPPrefix>) -> String {
        var text = ""
        for prefix in allowedIPs { text += "allowed_ip=\(prefix)\n" }
        return text
    }
}
