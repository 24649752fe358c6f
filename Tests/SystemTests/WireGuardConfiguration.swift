import Foundation

/// A key pair made by `wg`, as another implementation would.
struct KeyPair {
    let privateKey: String
    let publicKey: String

    init() throws {
        privateKey = try Machine.host("wg", "genkey").trimmingCharacters(in: .whitespacesAndNewlines)
        publicKey = try Machine.host("bash", "-c", "wg pubkey <<<'\(privateKey)'")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The two ends of a tunnel: 10.7.0.1 and fd07::1 at the left, 10.7.0.2 and fd07::2 at the right.
struct TunnelPair {
    let left: KeyPair
    let right: KeyPair
    var presharedKey: String?
    /// The outer addresses, as an endpoint writes them.
    var leftHost = "192.0.2.1"
    var rightHost = "192.0.2.2"
    var keepalive: Int?
    var mtu: Int?
    /// What a comment in both wg-quick files switches off.
    var switchedOff: [String] = []
    var endpointAtLeft = false
    var endpointAtRight = true

    init() throws {
        left = try KeyPair()
        right = try KeyPair()
    }

    /// The wg-quick file of the left end, which listens on 51820.
    var leftFile: String {
        file(
            own: left, peer: right, last: 1, port: 51820, endpoint: endpointAtLeft ? "\(rightHost):51821" : nil,
            full: true)
    }
    /// The wg-quick file of the right end, which listens on 51821.
    var rightFile: String {
        file(
            own: right, peer: left, last: 2, port: 51821, endpoint: endpointAtRight ? "\(leftHost):51820" : nil,
            full: true)
    }
    /// The same for `wg setconf`, which knows no addresses.
    var leftPlain: String {
        file(
            own: left, peer: right, last: 1, port: 51820, endpoint: endpointAtLeft ? "\(rightHost):51821" : nil,
            full: false)
    }
    var rightPlain: String {
        file(
            own: right, peer: left, last: 2, port: 51821, endpoint: endpointAtRight ? "\(leftHost):51820" : nil,
            full: false)
    }

    /// The wg-quick file of the right end with lines at the top of its `[Interface]`.
    func rightFile(with lines: String...) -> String {
        rightFile.replacing(
            "[Interface]\n", with: "[Interface]\n" + lines.map { $0 + "\n" }.joined(), maxReplacements: 1)
    }

    private func file(own: KeyPair, peer: KeyPair, last: Int, port: Int, endpoint: String?, full: Bool) -> String {
        var lines = ["[Interface]", "PrivateKey = \(own.privateKey)", "ListenPort = \(port)"]
        if full {
            lines.append("Address = 10.7.0.\(last)/24, fd07::\(last)/64")
            if let mtu { lines.append("MTU = \(mtu)") }
            if !switchedOff.isEmpty { lines.append("# switch_off = \(switchedOff.joined(separator: ", "))") }
        }
        lines += ["", "[Peer]", "PublicKey = \(peer.publicKey)"]
        lines.append("AllowedIPs = 10.7.0.\(3 - last)/32, fd07::\(3 - last)/128")
        if let presharedKey { lines.append("PresharedKey = \(presharedKey)") }
        if let endpoint { lines.append("Endpoint = \(endpoint)") }
        if let keepalive { lines.append("PersistentKeepalive = \(keepalive)") }
        return lines.joined(separator: "\n") + "\n"
    }
}
