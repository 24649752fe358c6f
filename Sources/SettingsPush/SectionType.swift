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
