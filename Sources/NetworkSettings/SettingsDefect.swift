public import ProviderKit

/// Why settings cannot be applied as they stand: each case names the value at fault.
public enum SettingsDefect: TunnelError, Hashable {
    /// Text that is not an address of the family that the field wants.
    case invalidAddress(field: String, value: String)
    /// An address that no interface can have: unspecified or multicast.
    case notAHostAddress(field: String, value: String)
    /// A mask whose one bits do not stand together at the left.
    case invalidMask(field: String, value: String)
    /// A prefix length outside 0 to 128.
    case invalidPrefixLength(field: String, value: Int)
    /// Parallel arrays of different length.
    case countMismatch(field: String, addresses: Int, masks: Int)
    /// An MTU outside 576 (1280 with IPv6) to 65,535.
    case invalidMTU(Int, minimum: Int)
    /// An overhead that leaves no usable MTU.
    case invalidOverhead(Int)
    /// A table number that is no place for routes of a tunnel.
    case invalidTable(UInt32)
    /// Text that is not a domain name.
    case invalidDomain(field: String, value: String)
    /// A list that is longer than any resolver would use.
    case tooMany(field: String, count: Int, limit: Int)
    /// Neither an address nor a route in either family.
    case empty

    /// Network Extension's domain of settings errors.
    public var errorDomain: String { TunnelProviderErrorCode.domain }

    /// The code of invalid settings.
    public var errorCode: Int { TunnelProviderErrorCode.networkSettingsInvalid.rawValue }

    /// The value at fault and what is wrong with it.
    public var cause: String {
        switch self {
        case .invalidAddress(let field, let value):
            "\(field): \(value.debugDescription) is not \(Self.addressKind(field))."
        case .notAHostAddress(let field, let value): "\(field): \(value) cannot be the address of an interface."
        case .invalidMask(let field, let value): "\(field): \(value.debugDescription) is not a contiguous IPv4 mask."
        case .invalidPrefixLength(let field, let value): "\(field): prefix length \(value) is not in 0...128."
        case .countMismatch(let field, let addresses, let masks):
            "\(field): there are \(addresses) addresses but \(masks) masks or prefix lengths."
        case .invalidMTU(let value, let minimum): "mtu: \(value) is not in \(minimum)...65535."
        case .invalidOverhead(let value): "tunnelOverheadBytes: \(value) is not in 0...64959."
        case .invalidTable(let number): "routing: table \(number) is reserved."
        case .invalidDomain(let field, let value): "\(field): \(value.debugDescription) is not a domain name."
        case .tooMany(let field, let count, let limit): "\(field): \(count) entries are more than \(limit)."
        case .empty: "The settings hold neither an address nor a route."
        }
    }

    /// How to correct the value.
    public var remedy: String {
        switch self {
        case .invalidAddress: "Write a plain address without prefix length, port or zone."
        case .notAHostAddress: "Give the interface a unicast address."
        case .invalidMask: "Write a mask such as 255.255.255.0."
        case .invalidPrefixLength: "Give a number of bits from 0 to 128."
        case .countMismatch: "Give each address its own mask or prefix length."
        case .invalidMTU(_, let minimum):
            minimum > 576
                ? "Raise it to 1280 or more, or leave IPv6 out." : "Set it to the path MTU less the tunnel's overhead."
        case .invalidOverhead: "Give the bytes that the tunnel adds to each packet, 80 for WireGuard."
        case .invalidTable: "Use a number other than 0, 255 and 54000 to 54199."
        case .invalidDomain: "Write labels of letters, digits and hyphens, separated by dots."
        case .tooMany(_, _, let limit): "Leave at most \(limit)."
        case .empty: "Add ipv4Settings or ipv6Settings, or set nil to clear."
        }
    }

    private static func addressKind(_ field: String) -> String {
        field.hasPrefix("ipv4") ? "an IPv4 address" : field.hasPrefix("ipv6") ? "an IPv6 address" : "a unicast address"
    }
}
