/// What a reason does to the item, and how it reads.
extension ReasonCode {
    /// What becomes of an item for a reason.
    public enum Effect: Sendable, Hashable {
        /// Taken as offered.
        case accepted
        /// Taken in another form, or with a remark.
        case changed
        /// Not taken.
        case refused
    }

    /// What becomes of the item.
    public var effect: Effect {
        switch self {
        case .accepted: .accepted
        case .narrowedToCeiling, .narrowedByDenyRoutes, .localNetworkExcepted, .overridesLocalNetwork,
            .searchDowngraded, .mtuClamped, .unknownIgnored, .heldBack:
            .changed
        default: .refused
        }
    }

    /// A name that programs may rely on; `reason-N` for a number that is not known.
    public var name: String { Self.texts[rawValue]?.name ?? "reason-\(rawValue)" }

    /// What happened, as the end of a sentence about the item.
    public var explanation: String {
        Self.texts[rawValue]?.text ?? "is refused for a reason that this version does not know (\(rawValue))"
    }

    private static let texts: [UInt16: (name: String, text: String)] = [
        0: ("accepted", "is accepted"),
        100: ("truncated", "ends in the middle of a value"),
        101: ("trailingBytes", "has bytes behind its last value"),
        102: ("oversized", "has more bytes than the limit"),
        103: ("tooManyItems", "has more items than the limit"),
        104: ("unsorted", "is not in ascending order"),
        105: ("duplicate", "is there twice"),
        106: ("unknownCritical", "must be understood, and this version does not know it"),
        107: ("hostBits", "has bits set beyond its prefix length"),
        108: ("nonCanonical", "is not in its one canonical form"),
        109: ("badFamily", "is neither IPv4 nor IPv6"),
        110: ("badPrefixLength", "has a prefix length that its family does not have"),
        111: ("badName", "is not a name of letters, digits and hyphens"),
        112: ("badText", "is not plain text"),
        113: ("badMTU", "is not an MTU that a tunnel can have"),
        114: ("badValue", "has a number without meaning"),
        115: ("missing", "lacks a value"),
        116: ("unsupportedVersion", "is of another version of the protocol"),
        117: ("unknownMessage", "is not a known message"),
        118: ("digestMismatch", "does not have the digest that was announced"),
        119: ("serialConflict", "has a serial that was seen with other content"),
        120: ("unknownIgnored", "is not known to this version and was passed over"),
        121: ("staleVersion", "is no longer what the gateway offers"),
        200: ("loopback", "is a loopback address, which no tunnel may take"),
        201: ("unspecified", "is the unspecified address, which no tunnel may take"),
        202: ("multicast", "is multicast, which no tunnel may take"),
        203: ("linkLocal", "is link-local, which no tunnel may take"),
        204: ("reserved", "is reserved (240.0.0.0/4), which no tunnel may take"),
        205: ("mappedIPv4", "is an IPv4 address in the form of IPv6, which no tunnel may take"),
        206: ("documentation", "is an address for documentation, which no tunnel may have"),
        207: ("controlAddress", "would take in the addresses of the push protocol itself"),
        208: ("outsideCeiling", "is outside of the AllowedIPs of the gateway's peer"),
        209: ("narrowedToCeiling", "is wider than the AllowedIPs of the gateway's peer, which are taken in its place"),
        300: ("ownedByAnotherPeer", "overlaps the AllowedIPs of another peer"),
        400: ("defaultRoute", "is a default route, or part of a set that amounts to one"),
        401: ("notInAcceptRoutes", "is not inside a network of acceptRoutes"),
        402: ("inDenyRoutes", "is inside a network of denyRoutes"),
        403: ("narrowedByDenyRoutes", "is accepted without the network of denyRoutes that it covers"),
        404: ("tooManyRoutes", "is one route more than maxRoutes"),
        405: ("exclusionForbidden", "would let traffic past the tunnel, which the profile forbids"),
        500: ("localNetwork", "is a network that this machine is connected to, and stays local"),
        501: ("localNetworkExcepted", "is accepted without the connected network that it covers"),
        502: ("overridesLocalNetwork", "is accepted in place of a connected network"),
        600: ("outsideAddressPools", "is outside of allowedAddressPools"),
        601: ("addressInUse", "is the address of another interface"),
        700: ("dnsNotAccepted", "is not taken because acceptDNS is none"),
        701: ("dnsServerUnreachable", "is not reached through any accepted route"),
        702: ("outsideDNSZones", "is outside of allowedDNSZones"),
        703: ("dnsCaptureNotAllowed", "go to the gateway only with a default route and acceptDNS = full"),
        704: ("searchDowngraded", "chooses the server, and completes no names"),
        705: ("dnsTransportUnsupported", "asks for a port or transport that this machine's resolver is not given"),
        706: ("dnsIncomplete", "is of no use: servers need names, and names need servers"),
        800: ("mtuClamped", "was brought into the range of the profile and the link"),
        900: ("heldBack", "waits, because there were too many changes in a minute"),
        901: ("applyFailed", "could not be applied by the host"),
        902: ("notConfirmed", "was taken back, because the gateway was out of reach with it"),
        903: ("capabilityMissing", "needs a section that the other end does not understand"),
    ]
}
