public import WireGuard

/// One decision of the filter: about what, and why.
public struct Decision: Sendable, Hashable {
    /// What is decided about.
    public enum Subject: Sendable, Hashable {
        case address(AssignedAddress)
        case route(IPPrefix)
        case exclude(IPPrefix)
        case server(DNSServer)
        case searchDomain(DomainName)
        case matchDomain(DomainName)
        case allNames
        case mtu(Int)
        case notice
        case section(UInt16)
    }

    /// Where it stands in the snapshot, and why: what a RESULT carries.
    public let finding: SettingsFinding
    /// What is decided about.
    public let subject: Subject
    /// What it collided with, or what was taken in its place: a network, a peer's name, a number.
    public let detail: String?

    /// Why.
    public var reason: ReasonCode { finding.reason }
}
