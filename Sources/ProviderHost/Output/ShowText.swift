/// A tunnel as people read it, in the form and the colours of `wg show`.
struct ShowText {
    private let view: TunnelView
    private let hasColour: Bool
    /// Seconds since 1970.
    private let now: Int64

    /// Describes a tunnel.
    init(_ view: TunnelView, hasColour: Bool, now: Int64) {
        self.view = view
        self.hasColour = hasColour
        self.now = now
    }

    /// The text: the interface, then its peers, those with the latest handshake first.
    var text: String {
        var text = head("interface", view.interface, .green)
        if let publicKey = view.publicKey { text += row("public key", publicKey) }
        if view.listenPort != 0 { text += row("listening port", "\(view.listenPort)") }
        if view.firewallMark != 0 { text += row("fwmark", "0x" + String(view.firewallMark, radix: 16)) }
        let drops = view.drops.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !drops.isEmpty {
            text += row("dropped packets", drops.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        for peer in view.peers.sorted(by: { $0.latestHandshake > $1.latestHandshake }) { text += "\n" + describe(peer) }
        return text
    }

    private func describe(_ peer: TunnelView.Peer) -> String {
        var text = head("peer", peer.publicKey, .yellow)
        if peer.hasPresharedKey { text += row("preshared key", "(hidden)") }
        if let endpoint = peer.endpoint { text += row("endpoint", endpoint) }
        text += row("allowed ips", peer.allowedIPs.isEmpty ? "(none)" : peer.allowedIPs.joined(separator: ", "))
        if peer.latestHandshake != 0 { text += row("latest handshake", Self.ago(now - peer.latestHandshake)) }
        if peer.receivedBytes > 0 || peer.sentBytes > 0 {
            text += row("transfer", "\(Self.size(peer.receivedBytes)) received, \(Self.size(peer.sentBytes)) sent")
        }
        if peer.keepaliveInterval != 0 {
            text += row("persistent keepalive", "every " + Self.duration(Int64(peer.keepaliveInterval)))
        }
        return text
    }

    // MARK: Colours

    private enum Colour: String {
        case green = "\u{1B}[32m"
        case yellow = "\u{1B}[33m"
        case plain = ""
    }

    private func paint(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\(colour.rawValue)\u{1B}[1m\(text)\u{1B}[0m" : text
    }

    private func head(_ label: String, _ name: String, _ colour: Colour) -> String {
        let value = hasColour ? "\(colour.rawValue)\(name)\u{1B}[0m" : name
        return "\(paint(label, colour)): \(value)\n"
    }

    private func row(_ label: String, _ value: String) -> String { "  \(paint(label, .plain)): \(value)\n" }

    // MARK: Amounts

    /// A number of bytes in the largest binary unit that it fills.
    static func size(_ bytes: UInt64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard bytes >= 1024 else { return "\(bytes) B" }
        var unit = 0
        var hundredths = bytes / 1024 * 100 + bytes % 1024 * 100 / 1024
        while hundredths >= 102_400, unit < units.count - 1 {
            hundredths /= 1024
            unit += 1
        }
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) \(units[unit])"
    }

    /// A span of seconds in words, the largest unit first.
    static func duration(_ seconds: Int64) -> String {
        var rest = seconds
        var parts: [String] = []
        for (unit, length) in [
            ("year", 31_536_000), ("day", 86_400), ("hour", 3600), ("minute", 60), ("second", Int64(1)),
        ] {
            let count = rest / length
            rest %= length
            if count > 0 { parts.append("\(count) \(unit)\(count == 1 ? "" : "s")") }
        }
        return parts.joined(separator: ", ")
    }

    private static func ago(_ seconds: Int64) -> String {
        if seconds < 0 { return "in the future: the clock was set back" }
        return seconds == 0 ? "now" : duration(seconds) + " ago"
    }
}
