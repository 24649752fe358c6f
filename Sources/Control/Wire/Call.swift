internal import Foundation

/// A call as it arrived; its parameters are decoded once the method is known.
public struct IncomingCall: Sendable {
    /// The method with its interface.
    public let method: String
    /// Whether the caller takes several replies.
    public let more: Bool
    /// Whether the caller takes no reply at all.
    public let oneway: Bool
    /// Whether the caller wants to speak another protocol afterwards, which nothing here does.
    public let upgrade: Bool
    /// The names of the parameters that were given.
    public let parameterNames: [String]
    private let frame: [UInt8]

    /// Decodes a frame; every byte of it is the sender's choice.
    ///
    /// - Throws: ``WireError/malformed(_:)``; the connection is of no use after it.
    public init(frame: [UInt8]) throws(WireError) {
        let header = try WireCodec.decode(Header.self, frame)
        guard let method = header.method else { throw .malformed("it has no method") }
        self.method = method
        more = header.more ?? false
        oneway = header.oneway ?? false
        upgrade = header.upgrade ?? false
        parameterNames = header.parameters?.names ?? []
        self.frame = frame
    }

    /// Decodes the parameters.
    ///
    /// - Throws: ``InvalidParameter`` that names the first parameter that is missing or of another type.
    public func parameters<Parameters: Decodable>(as type: Parameters.Type) throws(InvalidParameter) -> Parameters {
        // A call may leave out parameters that are all optional.
        let bytes = parameterNames.isEmpty ? Array(#"{"parameters":{}}"#.utf8) : frame
        do {
            return try JSONDecoder().decode(Envelope<Parameters>.self, from: Data(bytes)).parameters
        } catch let error as DecodingError {
            throw InvalidParameter(error)
        } catch {
            throw InvalidParameter(parameter: "parameters")
        }
    }

    private struct Header: Decodable {
        let method: String?
        let more: Bool?
        let oneway: Bool?
        let upgrade: Bool?
        let parameters: Names?
    }
}

/// A parameter that is missing, unknown or of another type.
public struct InvalidParameter: Error, Equatable {
    /// The name of the parameter.
    public let parameter: String

    /// Names a parameter.
    public init(parameter: String) { self.parameter = parameter }

    init(_ error: DecodingError) {
        let path =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            case .keyNotFound(let key, let context): context.codingPath + [key]
            @unknown default: [any CodingKey]()
            }
        let names = path.dropFirst().map(\.stringValue).joined(separator: ".")
        // The names are the sender's choice.
        self.init(parameter: names.isEmpty ? "parameters" : String(names.prefix(120)))
    }
}

/// The object around parameters.
struct Envelope<Parameters: Decodable>: Decodable {
    let parameters: Parameters
}

/// The names in an object, whatever their values are.
private struct Names: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(intValue: Int) { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
    }

    let names: [String]

    init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue).sorted()
    }
}
