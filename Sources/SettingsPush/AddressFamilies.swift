/// The families that a client can use.
public struct AddressFamilies: OptionSet, Sendable, Hashable {
    /// The bits as they are on the wire.
    public let rawValue: UInt8

    /// Makes a set from its bits on the wire.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ipv4 = AddressFamilies(rawValue: 1)
    public static let ipv6 = AddressFamilies(rawValue: 2)
}
