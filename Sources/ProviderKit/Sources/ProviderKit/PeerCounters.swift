/// What a provider counts of one peer, shown beside the counters of the interface.
///
/// A provider whose bundle has the key `PHAnswersCounters` answers the app message ``request`` with ``reply(_:)``. The form is
/// lines: `peer=NAME` begins a peer, each line after it is one figure `name=number`, and `omitted=number` ends a list that
/// was cut off.
public struct PeerCounters: Codable, Hashable, Sendable {
    /// The message that asks for the counters.
    public static let request: [UInt8] = Array("org.providerhost.counters".utf8)
    /// The longest reply to an app message, in bytes.
    static let replyLimit = 1 << 20

    /// What the protocol of the tunnel calls the peer: printable ASCII, such as a public key.
    public var name: String
    /// Figures by name, such as `receivedBytes`, `sentBytes` and `latestHandshake` (in seconds since 1970).
    public var values: [String: UInt64]

    /// Counters of one peer.
    public init(name: String, values: [String: UInt64]) {
        self.name = name
        self.values = values
    }

    /// The reply to ``request``; peers beyond 1 MiB of text are only counted.
    public static func reply(_ peers: [PeerCounters]) -> [UInt8] {
        // Room for the last line, whatever its number is.
        let limit = replyLimit - 64
        var reply: [UInt8] = []
        for (position, peer) in peers.enumerated() {
            let lines = peer.lines
            guard reply.count + lines.count <= limit else {
                return reply + "omitted=\(peers.count - position)\n".utf8
            }
            reply += lines
        }
        return reply
    }

    /// Reads a reply to ``request``, every byte of which is the provider's choice.
    ///
    /// - Returns: The peers and how many more there are; nil for a reply of another form.
    public static func read(_ reply: [UInt8]) -> (peers: [PeerCounters], omitted: UInt64)? {
        // Nothing that a terminal could take for more than text.
        let isPlain = reply.allSatisfy { (0x20...0x7e).contains($0) || $0 == UInt8(ascii: "\n") }
        guard reply.count <= replyLimit, isPlain else { return nil }
        var peers: [PeerCounters] = []
        var omitted: UInt64 = 0
        for line in reply.split(separator: UInt8(ascii: "\n")) {
            guard let end = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let key = String(decoding: line[..<end], as: UTF8.self)
            let value = String(decoding: line[(end + 1)...], as: UTF8.self)
            if key == "peer" {
                peers.append(PeerCounters(name: value, values: [:]))
                continue
            }
            guard let number = UInt64(value) else { return nil }
            if key == "omitted" {
                omitted = number
            } else if peers.isEmpty {
                return nil
            } else {
                peers[peers.count - 1].values[key] = number
            }
        }
        return (peers, omitted)
    }

    private var lines: [UInt8] {
        let figures = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        return Array("peer=\(name)\n\(figures.joined())".utf8)
    }
}
