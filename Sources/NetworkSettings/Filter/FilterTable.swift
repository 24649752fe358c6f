public import Netlink

/// A table of nftables that is ours alone: what it is for, and all that is in it.
public struct FilterTable: Hashable, Sendable {
    /// What a chain sees of the traffic.
    public enum Hook: String, Hashable, Sendable {
        case prerouting, input, forward, output, postrouting
    }

    /// Rules that the packets of a hook pass, in order.
    public struct Chain: Hashable, Sendable {
        /// Whether the chain filters packets, translates addresses, or lets marks decide the route anew.
        public enum Kind: String, Hashable, Sendable { case filter, nat, route }

        public var hook: Hook
        public var kind: Kind
        /// Chains of a hook are passed from the lowest number up.
        public var priority: Int
        /// Whether a packet that no rule decides about is dropped.
        public var isDropping: Bool
        public var rules: [FilterRule]

        /// A chain; its name is that of its hook.
        public init(
            _ hook: Hook, kind: Kind = .filter, priority: Int = 0, isDropping: Bool = false, rules: [FilterRule]
        ) {
            self.hook = hook
            self.kind = kind
            self.priority = priority
            self.isDropping = isDropping
            self.rules = rules
        }
    }

    /// Addresses that rules refer to by `@NAME`, as ranges that do not overlap.
    public struct AddressSet: Hashable, Sendable {
        public var name: String
        public var family: AddressFamily
        public var ranges: [ClosedRange<IPAddress>]

        /// A set; its name consists of letters and digits.
        public init(_ name: String, _ family: AddressFamily, _ ranges: [ClosedRange<IPAddress>]) {
            self.name = name
            self.family = family
            self.ranges = ranges
        }
    }

    public var name: FilterTableName
    public var sets: [AddressSet]
    public var chains: [Chain]

    /// A table with its whole content.
    public init(_ name: FilterTableName, sets: [AddressSet] = [], chains: [Chain]) {
        self.name = name
        self.sets = sets
        self.chains = chains
    }

    /// The commands that make the table, as `nft -j` reads them.
    var commands: [JSONValue] {
        let place = name.place
        var commands: [JSONValue] = [name.addition]
        commands += sets.map { set -> JSONValue in
            let elements = set.ranges.map { range -> JSONValue in
                range.lowerBound == range.upperBound
                    ? .text(range.lowerBound.description)
                    : ["range": [.text(range.lowerBound.description), .text(range.upperBound.description)]]
            }
            var members = place
            members["name"] = .text(set.name)
            members["type"] = .text(set.family == .ipv4 ? "ipv4_addr" : "ipv6_addr")
            members["flags"] = .list(["interval"])
            // nft refuses an empty list.
            if !elements.isEmpty { members["elem"] = .list(elements) }
            return ["add": ["set": .object(members)]]
        }
        for chain in chains {
            var members = place
            members["name"] = .text(chain.hook.rawValue)
            members["type"] = .text(chain.kind.rawValue)
            members["hook"] = .text(chain.hook.rawValue)
            members["prio"] = .number(chain.priority)
            members["policy"] = .text(chain.isDropping ? "drop" : "accept")
            commands.append(["add": ["chain": .object(members)]])
            commands += chain.rules.map { rule -> JSONValue in
                var members = place
                members["chain"] = .text(chain.hook.rawValue)
                members["expr"] = .list(rule.statements)
                return ["add": ["rule": .object(members)]]
            }
        }
        return commands
    }
}
