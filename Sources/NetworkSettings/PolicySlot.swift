public import Netlink

/// One of a hundred places for a tunnel's rules and tables.
///
/// Slot n has the rule priorities 5400+10n to 5409+10n, the tables 54000+2n and 54001+2n, and the default mark
/// 0x70680000+n. New routes are filled into the table that is not in use, and one rule switches over.
public struct PolicySlot: Hashable, Sendable {
    /// The slot numbers.
    public static let numbers = 0...99
    /// The rule priorities of all slots.
    public static let priorities: ClosedRange<UInt32> = 5400...6399
    /// The tables of all slots.
    static let tables: ClosedRange<UInt32> = 54_000...54_199

    /// The number, 0 to 99.
    public let number: Int

    /// A slot by number; nil outside 0 to 99.
    public init?(number: Int) {
        guard Self.numbers.contains(number) else { return nil }
        self.number = number
    }

    /// The mark for the sockets that carry the tunnel, where the configuration gives none.
    public var defaultMark: UInt32 { Self.defaultMarks.lowerBound + UInt32(number) }

    /// The default marks of all slots.
    static let defaultMarks: ClosedRange<UInt32> = 0x7068_0000...0x7068_0063

    /// The alias of the interface whose slot this is: also while it is down and has no routes, a sweep sees that it lives.
    public var alias: String { "\(Self.aliasStart)\(number)" }

    /// Whether an interface with this alias is a tunnel of ours.
    public static func isAlias(_ alias: String?) -> Bool { alias?.hasPrefix(aliasStart) ?? false }

    private static let aliasStart = "providerhost slot "

    /// The table of side 0 or 1.
    func table(side: Int) -> UInt32 { 54_000 + UInt32(2 * number + side) }

    /// Both tables.
    var tables: [UInt32] { [table(side: 0), table(side: 1)] }

    /// The rule priorities of the slot.
    var priorities: ClosedRange<UInt32> { priority(0)...priority(9) }

    func priority(_ offset: Int) -> UInt32 { 5400 + UInt32(10 * number + offset) }

    /// The slot of a rule that has the shape of ours; nil for a rule of somebody else.
    public static func owner(of rule: Rule) -> PolicySlot? {
        guard priorities.contains(rule.priority), rule.protocolNumber == ProtocolNumber.kernel,
            let slot = PolicySlot(number: Int(rule.priority - 5400) / 10)
        else { return nil }
        let isOurs =
            switch (rule.priority - slot.priority(0), rule.action) {
            case (0, .lookup(Route.mainTable)), (2, .unreachable): rule.mark != nil
            case (6, .lookup(slot.table(side: 0))), (7, .lookup(slot.table(side: 1))): rule.mark == nil
            default: false
            }
        return isOurs ? slot : nil
    }
}

/// Who made a route or rule, as the kernel records it.
enum ProtocolNumber {
    /// Network managers leave entries of the kernel alone; rules and backstops carry this.
    static let kernel: UInt8 = 2
    /// Our own number, on every other route: a sweep finds them by it.
    static let providerHost: UInt8 = 120
}
