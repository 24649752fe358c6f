/// The sections of a wg-quick file.
public enum ConfigurationSection: String, Sendable, Hashable, CaseIterable {
    case interface = "Interface"
    case peer = "Peer"
}

/// The keys of a wg-quick file, spelled as wg(8) and wg-quick(8) spell them.
public enum ConfigurationKey: String, Sendable, Hashable, CaseIterable {
    // The key that a large file repeats most comes first, because the look-up is linear.
    case allowedIPs = "AllowedIPs"
    case publicKey = "PublicKey"
    case presharedKey = "PresharedKey"
    case endpoint = "Endpoint"
    case persistentKeepalive = "PersistentKeepalive"
    case privateKey = "PrivateKey"
    case listenPort = "ListenPort"
    case firewallMark = "FwMark"
    case address = "Address"
    case dns = "DNS"
    case mtu = "MTU"
    case table = "Table"
    case preUp = "PreUp"
    case postUp = "PostUp"
    case preDown = "PreDown"
    case postDown = "PostDown"
    case saveConfiguration = "SaveConfig"

    /// The section that the key belongs in.
    public var section: ConfigurationSection {
        switch self {
        case .allowedIPs, .publicKey, .presharedKey, .endpoint, .persistentKeepalive: .peer
        default: .interface
        }
    }

    /// When the key's command runs, nil if the key is no hook.
    var hookMoment: Configuration.Hook.Moment? {
        Configuration.Hook.Moment(rawValue: rawValue)
    }

    /// What a value of the key looks like.
    var expectation: String {
        switch self {
        case .privateKey, .publicKey, .presharedKey: "44 characters of base64 as `wg genkey` or `wg pubkey` prints"
        case .listenPort: "a port from 0 to 65535"
        case .firewallMark: "off, a number from 0 to 4294967295, or 0x and hexadecimal digits"
        case .address: "addresses such as 10.0.0.2/24 or fd00::2/64, separated by commas"
        case .dns: "server addresses and search domains, separated by commas"
        case .mtu: "a number of bytes from 576 to 65535"
        case .table: "off, auto, main, default, local, or a table number from 1 to 4294967295"
        case .preUp, .postUp, .preDown, .postDown: "a shell command"
        case .saveConfiguration: "true or false"
        case .allowedIPs: "networks such as 10.0.0.0/24 or fd00::/64, separated by commas"
        case .endpoint: "address:port, [IPv6 address]:port or name:port, with a port from 1 to 65535"
        case .persistentKeepalive: "off or a number of seconds from 0 to 65535"
        }
    }
}
