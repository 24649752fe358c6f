public import Netlink

/// A way to tell the system's resolver about interfaces: the back end of DNS settings.
///
/// No call blocks for more than a few seconds.
public protocol Resolver: Sendable {
    /// The name of the back end, for people.
    var name: String { get }

    /// Why a configuration cannot have an effect, as a phrase; nil if it can.
    func limitation(_ configuration: ResolverConfiguration) -> String?

    /// Replaces what the resolver knows of an interface; nil takes it back, also when the interface is gone.
    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError)

    /// Takes back what was set for the interfaces that `isStale` names, by a process that ended without doing so.
    ///
    /// - Returns: The interfaces, by name.
    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String]

    /// Readable when ``hasForgotten()`` may have become true; nil if it never does.
    var changeDescriptor: Int32? { get }

    /// Whether the resolver was restarted since the last call, and must be told everything again.
    func hasForgotten() -> Bool
}

extension Resolver {
    public var changeDescriptor: Int32? { nil }
    public func hasForgotten() -> Bool { false }
}

/// Why the system's resolver could not be told.
public struct ResolverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as a phrase.
    public var attempt: String
    /// What came of it.
    public var reason: String

    /// Cause, and the way round it.
    public var description: String { "\(attempt): \(reason). Leave DNS alone with --dns none." }
}

/// The back end that leaves the system's resolver as it is.
public struct NoResolver: Resolver {
    public var name: String { "none" }
    /// Why nothing is set.
    public let reason: String

    /// A back end that gives `reason` where settings have no effect.
    public init(reason: String) { self.reason = reason }

    public func limitation(_ configuration: ResolverConfiguration) -> String? { reason }
    public func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {}
    public func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] { [] }
}
