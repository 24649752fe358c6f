internal import Foundation

/// Encodes the messages of Varlink, each with the zero byte that ends it.
public enum WireCodec {
    /// A call.
    ///
    /// - Parameters:
    ///   - method: The method with its interface.
    ///   - parameters: An object.
    ///   - more: Whether several replies are wanted.
    /// - Returns: The frame with its end.
    /// - Throws: ``WireError/malformed(_:)`` for what JSON cannot hold.
    public static func call(
        _ method: String, _ parameters: some Encodable, more: Bool = false
    ) throws(WireError) -> [UInt8] {
        try encode(Call(method: method, parameters: parameters, more: more ? true : nil))
    }

    /// A reply.
    ///
    /// - Parameters:
    ///   - parameters: An object.
    ///   - continues: Whether more replies follow.
    /// - Returns: The frame with its end.
    /// - Throws: ``WireError/malformed(_:)`` for what JSON cannot hold.
    public static func reply(_ parameters: some Encodable, continues: Bool = false) throws(WireError) -> [UInt8] {
        try encode(Reply(error: nil, parameters: parameters, continues: continues ? true : nil))
    }

    /// A reply that is an error.
    public static func error(_ name: String, _ parameters: some Encodable) throws(WireError) -> [UInt8] {
        try encode(Reply(error: name, parameters: parameters, continues: nil))
    }

    /// A reply whose parameters are lists of objects that were encoded before.
    ///
    /// - Parameters:
    ///   - lists: The lists by name, in order.
    ///   - continues: Whether more replies follow.
    /// - Returns: The frame with its end.
    public static func reply(lists: KeyValuePairs<String, [[UInt8]]>, continues: Bool = false) -> [UInt8] {
        var frame = Array((continues ? #"{"continues":true,"parameters":{"# : #"{"parameters":{"#).utf8)
        for (index, (name, objects)) in lists.enumerated() {
            frame += "\(index > 0 ? "," : "")\"\(name)\":[".utf8
            // Whole arrays are copied at once, the elements of a joined sequence one by one.
            for (position, object) in objects.enumerated() {
                if position > 0 { frame.append(UInt8(ascii: ",")) }
                frame += object
            }
            frame.append(UInt8(ascii: "]"))
        }
        return frame + "}}\0".utf8
    }

    /// A value without an end, for ``reply(lists:continues:)``.
    ///
    /// - Returns: The JSON.
    /// - Throws: ``WireError/malformed(_:)`` for what JSON cannot hold.
    public static func object(_ value: some Encodable) throws(WireError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            throw .malformed("it cannot be encoded")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ frame: [UInt8]) throws(WireError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(frame))
        } catch let error as DecodingError {
            throw .malformed(InvalidParameter.reason(error))
        } catch {
            throw .malformed("it is no JSON")
        }
    }

    private static func encode(_ value: some Encodable) throws(WireError) -> [UInt8] { try object(value) + [0] }

    private struct Call<Parameters: Encodable>: Encodable {
        let method: String
        let parameters: Parameters
        let more: Bool?
    }

    private struct Reply<Parameters: Encodable>: Encodable {
        let error: String?
        let parameters: Parameters
        let continues: Bool?
    }
}

extension InvalidParameter {
    /// What is wrong with a value, of bounded length because the sender chose it.
    fileprivate static func reason(_ error: DecodingError) -> String {
        let (what, context) =
            switch error {
            case .typeMismatch(_, let context): ("a value of another type", context)
            case .valueNotFound(_, let context): ("no value", context)
            case .keyNotFound(_, let context): ("no key", context)
            case .dataCorrupted(let context): ("no JSON", context)
            @unknown default: ("no JSON", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? what : "\(what) at \(path.prefix(120))"
    }
}
