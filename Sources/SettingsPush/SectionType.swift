/// The sections of a snapshot, in canonical order.
///
/// Bit 15 says that a receiver must understand the section.
public enum SectionType: UInt16, Sendable, Hashable, CaseIterable {
    case addresses = 0x8001
    case routes = 0x8002
    case excludes = 0x0003
    case dns = 0x0010
    case link = 0x0020
    case notice = 0x0040

    /// The bit that marks a type as critical.
    static let criticalBit: UInt16 = 0x8000

    /// The bit of ``Capabilities`` by which an end says that it understands the section.
    var capability: Capabilities {
        switch self {
        case .addresses: .addresses
        case .routes: .routes
        case .excludes: .excludes
        case .dns: .dns
        case .link: .link
        case .notice: .notice
        }
    }
}

/// The sections that an end understands, one bit each.
public struct Capabilities: OptionSet, Sendable, Hashable {
    /// The bits as they are on the wire.
    public let rawValue: UInt64

    /// Makes a set from its bits on the wire.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let addresses = Capabilities(rawValue: 1 << 0)
    public static let routes = Capabilities(rawValue: 1 << 1)
    public static let excludes = Capabilities(rawValue: 1 << 2)
    public static let dns = Capabilities(rawValue: 1 << 3)
    public static let link = Capabilities(rawValue: 1 << 4)
    public static let notice = Capabilities(rawValue: 1 << 5)

    /// What this implementation understands.
    public static let all: Capabilities = [.addresses, .routes, .excludes, .dns, .link, .notice]
}
