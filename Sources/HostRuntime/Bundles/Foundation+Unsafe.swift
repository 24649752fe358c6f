internal import Foundation

extension NSNumber {
    /// The kind of value that a parser stored.
    enum EncodedKind { case boolean, integer, real }

    /// Tells what was stored, by the type encoding: `c` for a boolean, `d` and `f` for a real.
    var encodedKind: EncodedKind {
        // SAFETY: `objCType` points to a constant string of at least one character.
        switch unsafe UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .boolean
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .real
        default: .integer
        }
    }
}

extension PropertyListSerialization {
    /// Parses a property list of any form.
    static func document(_ bytes: [UInt8]) throws -> Any {
        // SAFETY: no pointer for the form is passed.
        unsafe try propertyList(from: Data(bytes), format: nil)
    }
}
