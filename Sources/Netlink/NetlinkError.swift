/// A request that the kernel refused, or that could not be carried to it.
public struct NetlinkError: Error, Hashable, Sendable {
    /// What a caller may want to tell apart; the errno stays in `code`.
    public enum Kind: Hashable, Sendable {
        /// The process lacks CAP_NET_ADMIN in this network namespace.
        case notPermitted
        /// No interface has this name or index.
        case noSuchInterface
        /// An equal address, route or rule is already there.
        case alreadyExists
        /// The address, route, rule or table is not there.
        case notFound
        /// IPv6 is missing from the kernel or switched off on the interface.
        case ipv6Unavailable
        /// The tables kept changing while they were read, at every retry.
        case interrupted
        /// The kernel did not answer in time.
        case timedOut
        /// Anything else: see `code` and `kernelMessage`.
        case other
    }

    /// The errno, positive.
    public let code: Int32

    /// The kernel's own sentence (NLMSGERR_ATTR_MSG), if it gave one.
    public let kernelMessage: String?

    /// What was asked, as a phrase: `add route 10.0.0.0/8 dev 3 table 54000`.
    public let request: String

    /// The sort of failure.
    public let kind: Kind

    /// An error for `request`; `family` decides whether some codes mean that IPv6 is not there.
    public init(code: Int32, kernelMessage: String? = nil, request: String, family: AddressFamily? = nil) {
        self.code = code
        self.kernelMessage = kernelMessage
        self.request = request
        kind = Kind(code: code, family: family)
    }

    /// What to do about it, in one sentence.
    public var advice: String {
        switch kind {
        case .notPermitted: "Run as root or grant CAP_NET_ADMIN."
        case .noSuchInterface: "Check the interface name with `ip link`."
        case .alreadyExists: "Remove the existing entry, or find out which program owns it."
        case .notFound: "Check whether another program removed it."
        case .ipv6Unavailable: "Enable IPv6 (sysctl net.ipv6.conf.INTERFACE.disable_ipv6=0) or use IPv4 settings only."
        case .interrupted: "Try again when the routing tables change less often."
        case .timedOut: "Try again; the kernel may be holding its network lock."
        case .other: "See the kernel log for details."
        }
    }
}
