/// One step of a look-up: the owner it ends with, the one prefix left to compare, or the stride it goes on in.
///
/// A prefix that ends at most 16 bits behind the slot is compared here, which spares a look-up the memory of a leaf.
struct LookupEntry: BitwiseCopyable, Equatable {
    private static let leafTag: UInt32 = 1 << 30
    private static let strideTag: UInt32 = 1 << 31
    /// Owners and indices are below this number.
    static let maximum: UInt32 = 1 << 29
    /// The most bits behind its slot that an entry compares.
    static let restWidth: UInt32 = 16

    let bits: UInt32
    /// What the address must have in the 16 bits behind the slot, where `mask` has ones; else the stride's fallback holds.
    private let rest: UInt16
    private let mask: UInt16

    init(bits: UInt32, rest: UInt16 = 0, mask: UInt16 = 0) {
        self.bits = bits
        self.rest = rest
        self.mask = mask
    }

    /// The look-up ends with an owner, or with `UInt32.max` for none.
    static func owner(_ owner: UInt32) -> LookupEntry {
        precondition(owner < maximum || owner == .max)
        return LookupEntry(bits: owner & (leafTag - 1))
    }

    /// The look-up ends with an owner if the first `length` bits behind the slot are those of `rest`.
    static func owner(_ owner: UInt32, rest: UInt16, length: UInt32) -> LookupEntry {
        precondition(owner < maximum && (1...restWidth).contains(length))
        return LookupEntry(bits: owner, rest: rest, mask: ~0 << UInt16(restWidth - length))
    }

    /// The look-up ends in a leaf.
    static func leaf(_ index: UInt32) -> LookupEntry { LookupEntry(bits: leafTag | index) }

    /// The look-up goes on in a stride.
    static func stride(_ index: UInt32) -> LookupEntry { LookupEntry(bits: strideTag | index) }

    var isStride: Bool { bits & Self.strideTag != 0 }
    var isLeaf: Bool { bits & Self.leafTag != 0 }
    /// The leaf or the stride.
    var index: Int { Int(bits & (Self.leafTag - 1)) }
    /// The owner; the sign extension turns 30 ones into `UInt32.max`.
    var owner: UInt32 { UInt32(bitPattern: Int32(bitPattern: bits << 2) >> 2) }
    /// Whether bits behind the slot are to be compared.
    var hasRest: Bool { mask != 0 }

    /// Whether the 16 bits behind the slot are covered.
    func covers(_ bits: UInt16) -> Bool { (bits ^ rest) & mask == 0 }
}
