internal import Foundation

/// A reply as it arrived; its parameters are decoded by whoever knows the method.
public struct IncomingReply: Sendable {
    /// The error with its interface; nil for success.
    public let error: String?
    /// Whether more replies follow.
    public let continues: Bool
    private let frame: [UInt8]

    /// Decodes a frame.
    ///
    /// - Throws: ``WireError/malformed(_:)``.
    public init(frame: [UInt8]) throws(WireError) {
        let header = try WireCodec.decode(Header.self, frame)
        error = header.error
        continues = header.continues ?? false
        self.frame = frame
    }

    /// Decodes the parameters.
    ///
    /// - Throws: ``WireError/malformed(_:)``.
    public func parameters<Parameters: Decodable>(as type: Parameters.Type) throws(WireError) -> Parameters {
        try WireCodec.decode(Envelope<Parameters>.self, frame).parameters
    }

    private struct Header: Decodable {
        let error: String?
        let continues: Bool?
    }
}

/// No parameters.
public struct NoParameters: Codable, Sendable, Equatable {
    /// Makes nothing.
    public init() {}
}
