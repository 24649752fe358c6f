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
