/// One step of a look-up: the owner it ends with, the one prefix left to compare, or the stride it goes on in.
struct LookupEntry: BitwiseCopyable, Equatable {
    private static let leafTag: UInt32 = 1 << 30
    private static let strideTag: UInt32 = 1 << 31
    /// Owners and indices are below this number.
    static let maximum: UInt32 = 1 << 29

    let bits: UInt32

    /// The look-up ends with an owner, or with `UInt32.max` for none.
    static func owner(_ owner: UInt32) -> LookupEntry {
        precondition(owner < maximum || owner == .max)
        return LookupEntry(bits: owner & (leafTag - 1))
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
}
