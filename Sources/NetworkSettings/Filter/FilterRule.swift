public import Netlink

/// One rule of a chain: matches, all of which must hold, and a verdict.
public struct FilterRule: Hashable, Sendable {
    /// What happens to a packet that matches.
    public enum Verdict: Hashable, Sendable {
        case accept
        case drop
        /// Drops, and tells a local sender at once.
        case reject
        /// Gives the packet the address of the interface that it leaves by.
        case masquerade
        /// Marks the packet, and lets the next rule decide.
        case markPacket(UInt32)
        /// Marks the packet's connection, and lets the next rule decide.
        case markConnection(UInt32)
    }

    /// One condition.
    public enum Match: Hashable, Sendable {
        /// The packet leaves by one of these interfaces.
        case leavingBy([String])
        /// The packet came in by one of these interfaces.
        case enteringBy([String])
        /// The packet came in by none of these interfaces.
        case notEnteringBy([String])
        /// All 32 bits of the mark of the packet's socket.
        case mark(UInt32)
        /// TCP, UDP, or both.
        case transport([String])
        case sourcePort(Int)
        case destinationPorts([Int])
        /// The hop limit of an IPv6 packet.
        case hopLimit(Int)
        /// The type of an ICMPv6 message.
        case neighbourMessage([Int])
        case source(IPPrefix)
        case destination(IPPrefix)
        /// The destination is one of these addresses, of one family.
        case destinationIn([IPAddress])
        /// The destination is in a set of the table.
        case destinationInSet(String, AddressFamily)
        /// The source is no address of this machine.
        case sourceIsRemote
        /// The destination is an address of this machine.
        case destinationIsLocal
        /// The packet comes from the side that began its connection, or from the other.
        case isAnswer(Bool)
        /// The mark of the packet's connection, all 32 bits as a number.
        case connectionMark(ClosedRange<UInt32>)
        /// The address that an ARP packet asks about, IPv4.
        case askedAddress([IPAddress])
    }

    public var matches: [Match]
    public var verdict: Verdict

    /// A rule that decides about every packet for which all matches hold.
    public init(_ matches: Match..., verdict: Verdict) {
        self.matches = matches
        self.verdict = verdict
    }

    /// The rule as `nft -j` reads it.
    var statements: [JSONValue] { matches.map(\.statement) + [verdict.statement] }
}

extension FilterRule.Verdict {
    fileprivate var statement: JSONValue {
        switch self {
        case .accept: ["accept": nil]
        case .drop: ["drop": nil]
        case .reject: ["reject": ["type": "icmpx", "expr": "admin-prohibited"]]
        case .masquerade: ["masquerade": nil]
        case .markPacket(let mark): Self.set(FilterRule.Match.meta("mark"), mark)
        case .markConnection(let mark): Self.set(FilterRule.Match.connection("mark"), mark)
        }
    }

    private static func set(_ key: JSONValue, _ mark: UInt32) -> JSONValue {
        ["mangle": ["key": key, "value": .number(Int(mark))]]
    }
}

extension FilterRule.Match {
    fileprivate var statement: JSONValue {
        switch self {
        case .leavingBy(let names): Self.compare(Self.meta("oifname"), Self.anyOf(names))
        case .enteringBy(let names): Self.compare(Self.meta("iifname"), Self.anyOf(names))
        case .notEnteringBy(let names): Self.compare(Self.meta("iifname"), Self.anyOf(names), isEqual: false)
        case .mark(let mark): Self.compare(Self.meta("mark"), .number(Int(mark)))
        case .transport(let names): Self.compare(Self.meta("l4proto"), Self.anyOf(names))
        case .sourcePort(let port): Self.compare(Self.field("th", "sport"), .number(port))
        case .destinationPorts(let ports):
            Self.compare(Self.field("th", "dport"), ["set": .list(ports.map { .number($0) })])
        case .hopLimit(let count): Self.compare(Self.field("ip6", "hoplimit"), .number(count))
        case .neighbourMessage(let types):
            Self.compare(Self.field("icmpv6", "type"), ["set": .list(types.map { .number($0) })])
        case .source(let prefix): Self.compare(Self.address(prefix.family, "saddr"), Self.network(prefix))
        case .destination(let prefix): Self.compare(Self.address(prefix.family, "daddr"), Self.network(prefix))
        case .destinationIn(let addresses):
            Self.compare(
                Self.address(addresses.first?.family ?? .ipv4, "daddr"), Self.anyOf(addresses.map(\.description)))
        case .destinationInSet(let name, let family): Self.compare(Self.address(family, "daddr"), .text("@" + name))
        case .sourceIsRemote:
            Self.compare(["fib": ["result": "type", "flags": ["saddr"]]], "local", isEqual: false)
        case .destinationIsLocal: Self.compare(["fib": ["result": "type", "flags": ["daddr"]]], "local")
        case .isAnswer(let isAnswer): Self.compare(Self.connection("direction"), isAnswer ? "reply" : "original")
        case .connectionMark(let marks):
            Self.compare(
                Self.connection("mark"),
                marks.count == 1
                    ? .number(Int(marks.lowerBound))
                    : ["range": [.number(Int(marks.lowerBound)), .number(Int(marks.upperBound))]])
        case .askedAddress(let addresses):
            Self.compare(Self.field("arp", "daddr ip"), Self.anyOf(addresses.map(\.description)))
        }
    }

    private static func compare(_ left: JSONValue, _ right: JSONValue, isEqual: Bool = true) -> JSONValue {
        ["match": ["op": isEqual ? "==" : "!=", "left": left, "right": right]]
    }

    fileprivate static func meta(_ key: String) -> JSONValue { ["meta": ["key": .text(key)]] }

    fileprivate static func connection(_ key: String) -> JSONValue { ["ct": ["key": .text(key)]] }

    private static func field(_ header: String, _ field: String) -> JSONValue {
        ["payload": ["protocol": .text(header), "field": .text(field)]]
    }

    private static func address(_ family: AddressFamily, _ field: String) -> JSONValue {
        Self.field(family == .ipv4 ? "ip" : "ip6", field)
    }

    private static func network(_ prefix: IPPrefix) -> JSONValue {
        ["prefix": ["addr": .text(prefix.address.description), "len": .number(prefix.length)]]
    }

    private static func anyOf(_ texts: [String]) -> JSONValue { ["set": .list(texts.map { .text($0) })] }
}
