public import Netlink
public import ProviderKit

/// A way to tell the system's resolver about interfaces: the back end of DNS settings.
///
/// No call blocks for more than a few seconds.
public protocol Resolver: Sendable {
    /// The name of the back end, for people.
    var name: String { get }

    /// Why a configuration cannot have an effect; nil if it can.
    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall?

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

extension SettingsShortfall {
    /// DNS settings without effect.
    static func dns(_ reason: String, remedy: String) -> SettingsShortfall {
        SettingsShortfall(part: "dnsSettings", cause: "Not applied: \(reason)", remedy: remedy)
    }

    /// DNS settings for some names only, with a back end that knows nothing of names.
    static func splitDNS(by resolver: String) -> SettingsShortfall {
        .dns(
            "\(resolver) cannot send some names only to a server.",
            remedy: "systemd-resolved can; or have all names sent into the tunnel.")
    }
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
    /// Why nothing is set, as a phrase.
    public let reason: String
    /// What would have it set.
    private let remedy: String

    /// A back end that gives a reason and a remedy where settings have no effect.
    public init(reason: String, remedy: String) {
        self.reason = reason
        self.remedy = remedy
    }

    public func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? {
        .dns("\(reason).", remedy: remedy)
    }
    public func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {}
    public func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] { [] }
}
