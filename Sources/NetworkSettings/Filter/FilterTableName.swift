/// The name of a table of ours, which says what it is for and whose it is, so that a sweep needs no other state.
public struct FilterTableName: Hashable, Sendable {
    /// What of the traffic a table sees.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// Packets of IPv4 and IPv6.
        case inet
        /// Packets of IPv4 only.
        case ipv4 = "ip"
        /// Packets of IPv6 only.
        case ipv6 = "ip6"
        /// Requests and replies of ARP.
        case arp
    }

    /// What a table is for.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// The kill switch of a tunnel.
        case guardian = "guard"
        /// Address translation for a gateway's clients.
        case masquerade
        /// That a family is forwarded because of a gateway, and nobody else's packets with it.
        case forward
        /// Marks by which replies take the way of what they answer.
        case replies

        /// The families in which such a table exists.
        var families: [Family] {
            switch self {
            case .guardian: [.inet, .arp]
            case .masquerade, .replies: [.inet]
            case .forward: [.ipv4, .ipv6]
            }
        }
    }

    public var family: Family
    public var purpose: Purpose
    /// The name of the interface that the table belongs to.
    public var interface: String

    /// A name; `interface` is one that the kernel allows.
    public init(_ purpose: Purpose, _ family: Family = .inet, interface: String) {
        self.family = family
        self.purpose = purpose
        self.interface = interface
    }

    private static let prefix = "providerhost"

    /// The name as nftables knows it: `providerhost_guard_phtun0`.
    ///
    /// Characters that nft's own language has no place for in a name become `/` and two hexadecimal digits: a `/` is in no
    /// interface's name.
    public var text: String {
        let escaped = interface.utf8.map { byte in
            Self.isPlain(byte) ? String(UnicodeScalar(byte)) : "/" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "\(Self.prefix)_\(purpose.rawValue)_\(escaped.joined())"
    }

    /// The name of a table of ours; nil for a table of somebody else.
    init?(_ family: Family, text: String) {
        let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.prefix, let purpose = Purpose(rawValue: String(parts[1])) else {
            return nil
        }
        var bytes: [UInt8] = []
        var rest = Array(parts[2].utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "/") else {
                bytes.append(byte)
                continue
            }
            guard let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        self.init(purpose, family, interface: String(decoding: bytes, as: UTF8.self))
        guard self.text == text, purpose.families.contains(family), (1...15).contains(bytes.count) else { return nil }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// The members by which sets, chains and rules name their table.
    var place: [String: JSONValue] { ["family": .text(family.rawValue), "table": .text(text)] }

    /// The command that makes the table, or leaves the one that is there.
    var addition: JSONValue { ["add": ["table": ["family": .text(family.rawValue), "name": .text(text)]]] }

    /// The commands that remove the table whether or not it is there: deleting what is not there would be an error.
    var removal: [JSONValue] {
        [addition, ["delete": ["table": ["family": .text(family.rawValue), "name": .text(text)]]]]
    }
}
