/// Why something offered was refused, changed or noted: the number that a client returns to its gateway.
///
/// The set is open: a newer end may send a number that this one does not name, and it is kept as it is.
public struct ReasonCode: RawRepresentable, Sendable, Hashable, BitwiseCopyable {
    /// The number on the wire; the hundreds say which rule of the filter decided.
    public let rawValue: UInt16

    /// Makes a code from its number on the wire.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// Taken as it was offered.
    public static let accepted = ReasonCode(0)
}

/// Rule 1, shape: found by the codec, and the whole message or snapshot is refused.
extension ReasonCode {
    /// The bytes end inside a value.
    public static let truncated = ReasonCode(100)
    /// Bytes follow the last value.
    public static let trailingBytes = ReasonCode(101)
    /// More bytes than the limit.
    public static let oversized = ReasonCode(102)
    /// More items than the limit.
    public static let tooManyItems = ReasonCode(103)
    /// Not in ascending order.
    public static let unsorted = ReasonCode(104)
    /// The same type or item twice.
    public static let duplicate = ReasonCode(105)
    /// A type that must be understood and is not known.
    public static let unknownCritical = ReasonCode(106)
    /// A prefix with bits set beyond its length.
    public static let hostBits = ReasonCode(107)
    /// A second spelling of a value that has one: a reserved bit, an empty section, an upper-case name.
    public static let nonCanonical = ReasonCode(108)
    /// An address family other than 4 and 6.
    public static let badFamily = ReasonCode(109)
    /// A prefix length that the family does not have.
    public static let badPrefixLength = ReasonCode(110)
    /// A name that is not made of letters, digits and hyphens, or is too long.
    public static let badName = ReasonCode(111)
    /// Text that is not UTF-8 or holds a control character.
    public static let badText = ReasonCode(112)
    /// An MTU that no tunnel can have.
    public static let badMTU = ReasonCode(113)
    /// A number that has no meaning where it stands.
    public static let badValue = ReasonCode(114)
    /// A value that must be there is missing.
    public static let missing = ReasonCode(115)
    /// A message of another version of the protocol.
    public static let unsupportedVersion = ReasonCode(116)
    /// A message type that is not known.
    public static let unknownMessage = ReasonCode(117)
    /// The bytes do not have the digest that was announced.
    public static let digestMismatch = ReasonCode(118)
    /// A serial that was seen before with other content.
    public static let serialConflict = ReasonCode(119)
    /// A type that need not be understood was left out of account.
    public static let unknownIgnored = ReasonCode(120)
    /// The gateway no longer offers what was asked for.
    public static let staleVersion = ReasonCode(121)
}

/// Rule 2, never: no profile can allow these.
extension ReasonCode {
    public static let loopback = ReasonCode(200)
    public static let unspecified = ReasonCode(201)
    public static let multicast = ReasonCode(202)
    public static let linkLocal = ReasonCode(203)
    /// 240.0.0.0/4.
    public static let reserved = ReasonCode(204)
    /// ::ffff:0:0/96.
    public static let mappedIPv4 = ReasonCode(205)
    /// A documentation range, as an address.
    public static let documentation = ReasonCode(206)
    /// Would take in the addresses of the push protocol itself.
    public static let controlAddress = ReasonCode(207)
    /// Outside the peer's AllowedIPs.
    public static let outsideCeiling = ReasonCode(208)
    /// Wider than the peer's AllowedIPs, which are taken in its place.
    public static let narrowedToCeiling = ReasonCode(209)
}

/// Rules 3 to 8: a line of the profile decides.
extension ReasonCode {
    /// Overlaps the AllowedIPs of another peer.
    public static let ownedByAnotherPeer = ReasonCode(300)

    /// A default route, or a part of a set that amounts to one.
    public static let defaultRoute = ReasonCode(400)
    /// Not in `acceptRoutes`.
    public static let notInAcceptRoutes = ReasonCode(401)
    /// In `denyRoutes`.
    public static let inDenyRoutes = ReasonCode(402)
    /// Covers a network of `denyRoutes`, which stays outside.
    public static let narrowedByDenyRoutes = ReasonCode(403)
    /// One more than `maxRoutes`.
    public static let tooManyRoutes = ReasonCode(404)
    /// An exclusion, which `includeAllNetworks` and `enforceRoutes` forbid.
    public static let exclusionForbidden = ReasonCode(405)

    /// A network that this machine is connected to; it stays local.
    public static let localNetwork = ReasonCode(500)
    /// Covers a connected private network, which stays local.
    public static let localNetworkExcepted = ReasonCode(501)
    /// Takes the place of a connected network.
    public static let overridesLocalNetwork = ReasonCode(502)

    /// An address outside `allowedAddressPools`.
    public static let outsideAddressPools = ReasonCode(600)
    /// An address that another interface has.
    public static let addressInUse = ReasonCode(601)

    /// `acceptDNS` is none.
    public static let dnsNotAccepted = ReasonCode(700)
    /// A server that no accepted route leads to.
    public static let dnsServerUnreachable = ReasonCode(701)
    /// A name outside `allowedDNSZones`.
    public static let outsideDNSZones = ReasonCode(702)
    /// All names, without a default route or without `acceptDNS: full`.
    public static let dnsCaptureNotAllowed = ReasonCode(703)
    /// A search domain that is used to choose the server only.
    public static let searchDowngraded = ReasonCode(704)
    /// A port or transport that this machine's resolver is not given.
    public static let dnsTransportUnsupported = ReasonCode(705)
    /// Names without a server, or servers without a name.
    public static let dnsIncomplete = ReasonCode(706)

    /// An MTU that was raised or lowered into the range of the profile and the link.
    public static let mtuClamped = ReasonCode(800)
}

/// Rule 9 and the life of a snapshot after the filter.
extension ReasonCode {
    /// Too many changes in a minute: held back.
    public static let heldBack = ReasonCode(900)
    /// The host could not apply the settings.
    public static let applyFailed = ReasonCode(901)
    /// The acknowledgement did not arrive through the tunnel in time.
    public static let notConfirmed = ReasonCode(902)
    /// The peer wants a section that the other end does not understand.
    public static let capabilityMissing = ReasonCode(903)
}
