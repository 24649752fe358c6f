private import Foundation
package import ProviderKit

/// Reads property lists and JSON of foreign origin into ``PropertyListValue``.
package enum PropertyListReader {
    /// The deepest nesting that is accepted; Foundation's own parsers stop at 512.
    static let maximumDepth = 64
    /// The most values in one document, so that a small file cannot make a large tree.
    static let maximumValues = 500_000

    /// Parses an XML property list; the binary and the old text form are refused.
    package static func xml(_ bytes: [UInt8]) throws(PropertyListFailure) -> PropertyListValue {
        guard bytes.first == UInt8(ascii: "<") || bytes.starts(with: [0xEF, 0xBB, 0xBF, UInt8(ascii: "<")]) else {
            throw PropertyListFailure(reason: "it is no XML property list")
        }
        return try convert { try PropertyListSerialization.document(bytes) }
    }

    /// Parses a JSON document.
    package static func json(_ bytes: [UInt8]) throws(PropertyListFailure) -> PropertyListValue {
        try convert { try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) }
    }

    private static func convert(_ parse: () throws -> Any) throws(PropertyListFailure) -> PropertyListValue {
        let document: Any
        do {
            document = try parse()
        } catch {
            throw PropertyListFailure(reason: Self.reason(of: error))
        }
        var remaining = maximumValues
        return try value(document, depth: 0, remaining: &remaining)
    }

    /// The parser's own words, which name the line.
    private static func reason(of error: any Error) -> String {
        let details = (error as NSError).userInfo["NSDebugDescription"] as? String
        return (details ?? "the parser refused it").printable
    }

    private static func value(
        _ object: Any, depth: Int, remaining: inout Int
    ) throws(PropertyListFailure) -> PropertyListValue {
        remaining -= 1
        guard remaining >= 0 else { throw PropertyListFailure(reason: "it holds more than \(maximumValues) values") }
        guard depth < maximumDepth else {
            throw PropertyListFailure(reason: "it is nested deeper than \(maximumDepth) levels")
        }
        switch object {
        case let text as String: return .string(text)
        case let data as Data: return .data([UInt8](data))
        case let array as [Any]:
            var values: [PropertyListValue] = []
            values.reserveCapacity(array.count)
            for element in array { values.append(try value(element, depth: depth + 1, remaining: &remaining)) }
            return .array(values)
        case let dictionary as [String: Any]:
            var values: [String: PropertyListValue] = [:]
            for (key, element) in dictionary {
                values[key] = try value(element, depth: depth + 1, remaining: &remaining)
            }
            return .dictionary(values)
        case let number as NSNumber: return try Self.number(number)
        default:
            throw PropertyListFailure(reason: "it holds a value that is no string, number, boolean, data or container")
        }
    }

    /// Tells boolean, integer and real apart, which `as?` does not do: `NSNumber` converts among them.
    private static func number(_ number: NSNumber) throws(PropertyListFailure) -> PropertyListValue {
        switch number.encodedKind {
        case .boolean: return .boolean(number.boolValue)
        case .real: return .real(number.doubleValue)
        case .integer:
            guard let integer = Int(exactly: number) else {
                throw PropertyListFailure(reason: "the number \(number) does not fit 64 bits with sign")
            }
            return .integer(integer)
        }
    }
}

/// Why a document is not usable: a clause without a full stop.
package struct PropertyListFailure: Error, Sendable, Equatable {
    package let reason: String
}

extension String {
    /// The text with control characters replaced and cut to 200 characters, fit for one line of a message.
    package var printable: String {
        let line = String(String.UnicodeScalarView(unicodeScalars.prefix(200).map { Self.isControl($0) ? "?" : $0 }))
        return unicodeScalars.count > 200 ? line + "…" : line
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
    }
}
