/// Why a network or a name is, or is not, in force: who offered it, what decided, and which line of the profile would.
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
    /// What was asked about, or the item that covers it.
    public let subject: String
    /// Who offered it: the gateway and its serial; nil where nobody did.
    public let offeredBy: String?
    /// What decided; nil where nothing was offered.
    public let reason: ReasonCode?
    /// What it collided with, or what was taken in its place.
    public let detail: String?
    /// What to do: the line of the profile that would allow it, or where else it would have to change; nil if accepted.
    public let remedy: String?
    /// Where the line stands that decided; nil where no line of a profile does.
    public let place: Place?

    /// A line of a profile.
    public struct Place: Sendable, Hashable {
        /// The name of the line.
        public let key: String
        /// Its number, from 1; nil where the profile does not have it and the usual value counts.
        public let line: Int?
        /// The profile's file; nil where it is not known.
        public let file: String?
    }

    /// A sentence of what happened, one of what to do, and one of where the line is.
    public var description: String {
        let origin = offeredBy.map { ", offered by \($0)," } ?? ""
        let decided = reason?.explanation ?? "is offered by nobody"
        let collision = detail.map { " (\($0))" } ?? ""
        var sentences = ["\(subject)\(origin) \(decided)\(collision)."]
        if let remedy { sentences.append(remedy) }
        if let place, let line = place.line {
            sentences.append("The line \(place.key) is now line \(line) of \(place.file ?? "the profile").")
        }
        return sentences.joined(separator: " ")
    }
}

extension Decision.Subject: CustomStringConvertible {
    public var description: String {
        switch self {
        case .address(let address): "Address \(address)"
        case .route(let prefix): "Route \(prefix)"
        case .exclude(let prefix): "Exclusion \(prefix)"
        case .server(let server): "DNS server \(server)"
        case .searchDomain(let name): "Search domain \(name)"
        case .matchDomain(let name): "Domain \(name)"
        case .allNames: "All names"
        case .mtu(let mtu): "MTU \(mtu)"
        case .notice: "The notice"
        case .section(let type): "Section \(type)"
        }
    }
}

extension Decision {
    /// The decision as an answer to the question why.
    public func explanation(offeredBy: String, place: Explanation.Place?) -> Explanation {
        Explanation(
            subject: "\(subject)", offeredBy: offeredBy, reason: reason, detail: detail, remedy: remedy, place: place)
    }

    /// The name of the profile's line that decided; nil where none does.
    var policyKey: String? {
        switch reason {
        case .outsideCeiling, .narrowedToCeiling: Self.ceilingKey
        case .defaultRoute: "acceptDefaultRoute"
        case .notInAcceptRoutes: "acceptRoutes"
        case .inDenyRoutes, .narrowedByDenyRoutes: "denyRoutes"
        case .tooManyRoutes: "maxRoutes"
        case .exclusionForbidden, .localNetwork, .localNetworkExcepted: "enforceRoutes"
        case .overridesLocalNetwork: "excludeLocalNetworks"
        case .outsideAddressPools: "allowedAddressPools"
        case .dnsNotAccepted, .dnsCaptureNotAllowed: "acceptDNS"
        case .outsideDNSZones: "allowedDNSZones"
        case .searchDowngraded: "acceptSearchDomains"
        case .mtuClamped: "mtuRange"
        default: nil
        }
    }

    /// The line of a wg-quick file that bounds what any gateway may have.
    public static let ceilingKey = "AllowedIPs"

    /// The line of the profile that would allow the item, or what else would have to change.
    private var remedy: String? {
        switch (reason, subject) {
        case (.accepted, _): nil
        case (.outsideCeiling, .route(let prefix)), (.narrowedToCeiling, .route(let prefix)):
            "Add \(prefix) to AllowedIPs of the gateway's peer to allow it."
        case (.ownedByAnotherPeer, .route(let prefix)):
            "Take \(prefix) from AllowedIPs of \(detail ?? "the other peer") to allow it."
        case (.defaultRoute, _): Self.line("acceptDefaultRoute = true")
        case (.notInAcceptRoutes, .route(let prefix)): "Add \(prefix) to acceptRoutes to allow it."
        case (.inDenyRoutes, _), (.narrowedByDenyRoutes, _):
            "Take \(detail ?? "the network") from denyRoutes to allow it."
        case (.tooManyRoutes, _): "Raise maxRoutes (now \(detail ?? "1024")) to allow it."
        case (.exclusionForbidden, _): Self.line("enforceRoutes = false, includeAllNetworks = false")
        case (.localNetwork, _), (.localNetworkExcepted, _): Self.line("enforceRoutes = true")
        case (.overridesLocalNetwork, _): "The line excludeLocalNetworks = true keeps connected networks local."
        case (.outsideAddressPools, .address(let address)): "Add \(address) to allowedAddressPools to allow it."
        case (.addressInUse, _):
            "Give the gateway's pool another range, or take the address from \(detail ?? "the interface")."
        case (.dnsNotAccepted, _): Self.line("acceptDNS = split")
        case (.dnsServerUnreachable, .server(let server)):
            "A route to \(server.address) has to be offered and accepted."
        case (.outsideDNSZones, .searchDomain(let name)), (.outsideDNSZones, .matchDomain(let name)):
            "Add \(name) to allowedDNSZones to allow it."
        case (.dnsCaptureNotAllowed, _): Self.line("acceptDefaultRoute = true, acceptDNS = full")
        case (.searchDowngraded, _): Self.line("acceptSearchDomains = true")
        case (.dnsTransportUnsupported, _): "Have the gateway offer plain DNS at port 53."
        case (.dnsIncomplete, _): "See what the other servers and names of the snapshot were refused for."
        case (.mtuClamped, _): "The line mtuRange = LEAST-MOST decides, within what the path carries."
        default: "No line of a profile allows it."
        }
    }

    private static func line(_ text: String) -> String { "The profile's line \(text) would allow it." }
}
