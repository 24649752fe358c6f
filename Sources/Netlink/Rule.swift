import CMnl

/// A rule that chooses the routing table for a packet (RTM_NEWRULE).
///
/// Selectors other than the mark are not represented: a rule of another program that has some is listed without them.
public struct Rule: Hashable, Sendable {
    /// What happens to a packet that matches.
    public enum Action: Hashable, Sendable {
        /// Looks the destination up in this table.
        case lookup(UInt32)
        /// Refuses the packet and tells the sender.
        case unreachable
        /// Another action, by its number in linux/fib_rules.h.
        case other(UInt8)
    }

    public var family: AddressFamily
    /// Rules are tried from the lowest priority number up.
    public var priority: UInt32
    /// The firewall mark that a packet must carry, under the mask; nil matches every packet.
    public var mark: UInt32?
    public var mask: UInt32
    public var action: Action
    /// Who made the rule; a second rule that differs only in this is not refused by the kernel.
    public var protocolNumber: UInt8

    /// A rule; the mask compares the whole mark unless told otherwise.
    public init(
        family: AddressFamily, priority: UInt32, mark: UInt32? = nil, mask: UInt32 = .max, action: Action,
        protocolNumber: UInt8
    ) {
        self.family = family
        self.priority = priority
        self.mark = mark
        self.mask = mark == nil ? 0 : mask
        self.action = action
        self.protocolNumber = protocolNumber
    }

    /// The table that the rule looks into, if that is its action.
    public var table: UInt32? {
        if case .lookup(let table) = action { table } else { nil }
    }
}

extension Rule {
    /// Length of struct fib_rule_hdr.
    static let headerLength = 12

    init?(_ message: Message) {
        let header = Array(message.payload.prefix(Self.headerLength))
        guard header.count == Self.headerLength, let family = AddressFamily(rawValue: header[0]) else { return nil }
        let attributes = message.attributes(after: Self.headerLength)
        let mask = attributes.integer(RuleAttribute.mask, as: UInt32.self) ?? 0
        let action: Action =
            switch Int(header[7]) {
            case FR_ACT_TO_TBL:
                .lookup(attributes.integer(RuleAttribute.table, as: UInt32.self) ?? UInt32(header[4]))
            case FR_ACT_UNREACHABLE: .unreachable
            default: .other(header[7])
            }
        self.init(
            family: family, priority: attributes.integer(RuleAttribute.priority, as: UInt32.self) ?? 0,
            mark: mask == 0 ? nil : attributes.integer(RuleAttribute.mark, as: UInt32.self) ?? 0, mask: mask,
            action: action, protocolNumber: attributes.integer(RuleAttribute.protocolNumber, as: UInt8.self) ?? 0)
    }

    /// Writes struct fib_rule_hdr (family, lengths, TOS, table, reserved, action, flags) and the attributes.
    func append(to builder: inout MessageBuilder) {
        builder.append(family.rawValue)
        for _ in 0..<6 { builder.append(UInt8(0)) }
        switch action {
        case .lookup: builder.append(UInt8(FR_ACT_TO_TBL))
        case .unreachable: builder.append(UInt8(FR_ACT_UNREACHABLE))
        case .other(let number): builder.append(number)
        }
        builder.append(UInt32(0))
        builder.attribute(RuleAttribute.priority, priority)
        if let mark {
            builder.attribute(RuleAttribute.mark, mark)
            builder.attribute(RuleAttribute.mask, mask)
        }
        if let table { builder.attribute(RuleAttribute.table, table) }
        builder.attribute(RuleAttribute.protocolNumber, protocolNumber)
    }
}

extension Rule: CustomStringConvertible {
    /// The rule as `ip rule` would show it.
    public var description: String {
        let selector = mark.map { " fwmark 0x\(String($0, radix: 16))/0x\(String(mask, radix: 16))" } ?? ""
        let target =
            switch action {
            case .lookup(let table): "lookup \(table)"
            case .unreachable: "unreachable"
            case .other(let number): "action \(number)"
            }
        return "\(family) \(priority):\(selector) \(target)"
    }
}
