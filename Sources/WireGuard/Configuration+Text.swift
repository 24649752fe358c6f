extension Configuration {
    /// The configuration as a wg-quick file, one value per line; it holds the secret keys.
    ///
    /// Parsing the text gives an equal configuration, but for the line numbers of hooks.
    public var wgQuickText: String {
        var lines = ["[Interface]"] + interface.lines
        for peer in peers {
            lines += ["", "[Peer]"] + peer.lines
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Configuration.Interface {
    fileprivate var lines: [String] {
        var lines = ["PrivateKey = \(privateKey.base64)"]
        if listenPort != 0 { lines.append("ListenPort = \(listenPort)") }
        if firewallMark != 0 { lines.append("FwMark = 0x\(String(firewallMark, radix: 16))") }
        lines += addresses.map { "Address = \($0)" }
        lines += dnsServers.map { "DNS = \($0)" }
        lines += searchDomains.map { "DNS = \($0)" }
        if let mtu { lines.append("MTU = \(mtu)") }
        switch table {
        case .automatic: break
        case .off: lines.append("Table = off")
        case .number(let number): lines.append("Table = \(number)")
        }
        lines += hooks.map { "\($0.moment.rawValue) = \($0.command)" }
        if savesConfiguration { lines.append("SaveConfig = true") }
        if !switchedOff.isEmpty {
            let names = PathFeature.allCases.filter(switchedOff.contains).map(\.rawValue)
            lines.append("# switch_off = \(names.joined(separator: ", "))")
        }
        if let threads { lines.append("# threads = \(threads)") }
        lines += matchDomains.map { "# match_domains = \($0)" }
        return lines
    }
}

extension Configuration.Peer {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if let friendlyName { lines.append("# friendly_name = \(friendlyName)") }
        lines.append("PublicKey = \(publicKey.base64)")
        if let presharedKey { lines.append("PresharedKey = \(presharedKey.base64)") }
        lines += allowedIPs.map { "AllowedIPs = \($0)" }
        if let endpoint { lines.append("Endpoint = \(endpoint)") }
        if persistentKeepalive != 0 { lines.append("PersistentKeepalive = \(persistentKeepalive)") }
        return lines
    }
}
