/// A network: an address whose bits past the prefix length are zero.
public struct IPPrefix: Hashable, Sendable {
    /// The network's first address.
    ///
    /// INVARIANT: host bits are zero.
    public let address: IPAddress

    /// The number of leading bits that count: 0 to 32 or 128.
    public let length: Int

    /// The network of `length` bits that holds `address`; nil when the length is out of the family's range.
    public init?(_ address: IPAddress, length: Int) {
        guard (0...address.family.bitWidth).contains(length) else { return nil }
        self.address = IPAddress(family: address.family, bits: address.bits & Self.mask(length: length))
        self.length = length
    }

    /// The network of this one address: a /32 or /128.
    public init(host address: IPAddress) {
        self.address = address
        length = address.family.bitWidth
    }

    /// The network of every address of a family: 0.0.0.0/0 or ::/0.
    public static func everything(_ family: AddressFamily) -> IPPrefix {
        IPPrefix(unchecked: .unspecified(family), length: 0)
    }

    /// The family of the network's addresses.
    public var family: AddressFamily { address.family }

    /// Whether the network is the whole family, which makes a route to it the default route.
    public var isDefault: Bool { length == 0 }

    /// Whether an address lies in the network.
    public func contains(_ other: IPAddress) -> Bool {
        other.family == family && other.bits & Self.mask(length: length) == address.bits
    }

    /// Whether another network lies wholly in this one.
    public func contains(_ other: IPPrefix) -> Bool {
        other.length >= length && contains(other.address)
    }

    static func mask(length: Int) -> UInt128 {
        // A shift by the full width is zero in Swift, which is the mask of length 0.
        UInt128.max << UInt128(128 - length)
    }

    private init(unchecked address: IPAddress, length: Int) {
        self.address = address
        self.length = length
    }
}

extension IPPrefix: Comparable {
    /// By address, then the wider network first.
    public static func < (left: IPPrefix, right: IPPrefix) -> Bool {
        left.address == right.address ? left.length < right.length : left.address < right.address
    }
}

extension IPPrefix: CustomStringConvertible, LosslessStringConvertible {
    /// Parses `ADDRESS/LENGTH` or a bare address, and clears host bits; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let head = parts.first, let address = IPAddress(String(head)) else { return nil }
        guard parts.count == 2 else {
            self.init(host: address)
            return
        }
        // Digits only: Int("+8") and Int("-0") would pass.
        guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(parts[1])
        else { return nil }
        self.init(address, length: length)
    }

    /// The network as `ADDRESS/LENGTH`.
    public var description: String { "\(address)/\(length)" }
}
