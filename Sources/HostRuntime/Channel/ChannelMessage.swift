private import Foundation
private import ProviderKit

/// One direction of the protocol between manager and worker.
///
/// Bodies are JSON, or raw bytes where the message is an application's bytes. Descriptors travel beside the body, in the
/// order that the message's documentation gives.
public protocol ChannelMessage: Sendable {
    /// The kind of message, as the header carries it; a kind is never used in both directions.
    var kind: UInt16 { get }
    /// The identifier that pairs a request with its answer, 0 where there is none.
    var id: UInt64 { get }
    /// How many descriptors belong to the message.
    var descriptorCount: Int { get }

    /// Encodes everything but kind and identifier.
    func encodeBody() throws(ChannelError) -> [UInt8]

    /// Decodes a message of any kind of this direction.
    ///
    /// - Throws: ``ChannelError``; `unknownMessage` or `malformedBody`.
    init(kind: UInt16, id: UInt64, body: [UInt8]) throws(ChannelError)
}

/// Encodes and decodes bodies; nil is the empty body.
struct BodyCoder {
    let kind: UInt16

    func encode(_ value: (some Encodable)?) throws(ChannelError) -> [UInt8] {
        guard let value else { return [] }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            throw .malformedBody(kind: kind, reason: "it cannot be encoded")
        }
    }

    func decodeOptional<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws(ChannelError) -> Value? {
        if body.isEmpty { return nil }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return try decoder.decode(type, from: Data(body))
        } catch let error as DecodingError {
            throw .malformedBody(kind: kind, reason: Self.reason(error))
        } catch {
            throw .malformedBody(kind: kind, reason: "it cannot be decoded")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws(ChannelError) -> Value {
        guard let value = try decodeOptional(type, body) else {
            throw .malformedBody(kind: kind, reason: "it is empty")
        }
        return value
    }

    func expectEmpty(_ body: [UInt8]) throws(ChannelError) {
        if !body.isEmpty { throw .malformedBody(kind: kind, reason: "it is not empty") }
    }

    /// Where the value is wrong, of bounded length because the sender chose it.
    private static func reason(_ error: DecodingError) -> String {
        let (what, context) =
            switch error {
            case .typeMismatch(_, let context): ("a value of another type", context)
            case .valueNotFound(_, let context): ("no value", context)
            case .keyNotFound(_, let context): ("no key", context)
            case .dataCorrupted(let context): ("corrupt data", context)
            @unknown default: ("corrupt data", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? what : "\(what) at \(path.prefix(120))"
    }
}
