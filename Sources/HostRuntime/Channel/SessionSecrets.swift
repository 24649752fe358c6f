public import ProviderKit
internal import SystemStore

/// Secrets on their way from the keychain to a worker: in sealed memory, which only the worker reads.
///
/// ```
///  0             4      …       4             …
///  | name length | name | length of the value | value | next name length …
/// ```
/// Numbers are little-endian.
public final class SessionSecrets: Sendable {
    /// The most bytes of all secrets of a session.
    static let limit = 16 << 20

    /// The sealed memory.
    let memory: Descriptor
    private let length: Int

    /// Seals secrets by name; nothing of them stays behind in this process.
    ///
    /// - Throws: ``ChannelError`` when memory or descriptors are short.
    init(_ secrets: [(name: String, value: SecretBytes)]) throws(ChannelError) {
        length = secrets.reduce(0) { $0 + 8 + $1.name.utf8.count + $1.value.count }
        var encoded: [UInt8] = []
        // Growing would leave copies behind.
        encoded.reserveCapacity(length)
        for (name, value) in secrets {
            encoded.append(length: name.utf8.count)
            encoded += name.utf8
            encoded.append(length: value.count)
            value.withBytes { bytes in
                for index in 0..<bytes.byteCount { encoded.append(bytes.byte(at: index)) }
            }
        }
        defer { SecretBytes.wipe(&encoded) }
        memory = try ChannelSystem.sealedMemory(encoded)
    }

    /// Takes over memory that a manager sealed.
    ///
    /// - Throws: ``ChannelError`` for memory that is not sealed or too large.
    init(reading memory: Descriptor) throws(ChannelError) {
        length = try ChannelSystem.sealedMemorySize(memory)
        guard length <= Self.limit else { throw .bodyTooLong(length) }
        self.memory = memory
    }

    /// A configuration in which secrets stand where their names stood.
    func filled(into configuration: TunnelProviderProtocol) throws(ChannelError) -> TunnelProviderProtocol {
        let secrets = try decoded()
        var filled = configuration
        filled.providerConfiguration[TunnelProviderProtocol.keychainReferencesKey] = nil
        filled.providerConfiguration = filled.providerConfiguration.mapValues { $0.replacing(secrets) }
        return filled
    }

    private func decoded() throws(ChannelError) -> [(place: String, value: String)] {
        let bytes = try ChannelSystem.readSealedMemory(memory, length: length)
        var rest = bytes[...]
        func part() -> ArraySlice<UInt8>? {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        var secrets: [(place: String, value: String)] = []
        while !rest.isEmpty {
            guard let name = part(), let value = part() else {
                throw .malformedBody(kind: 1, reason: "the secrets are cut off")
            }
            secrets.append(
                (
                    TunnelProviderProtocol.keychainPlace(String(decoding: name, as: UTF8.self)),
                    String(decoding: value, as: UTF8.self)
                ))
        }
        return secrets
    }
}

extension TunnelProviderProtocol {
    /// What stands in a text where the secret of this name belongs.
    public static func keychainPlace(_ name: String) -> String { "${keychain:\(name)}" }
}

extension PropertyListValue {
    /// The value with every text filled in, on any depth.
    fileprivate func replacing(_ secrets: [(place: String, value: String)]) -> PropertyListValue {
        switch self {
        case .string(let text):
            .string(secrets.reduce(text) { $0.contains($1.place) ? $0.replacing($1.place, with: $1.value) : $0 })
        case .array(let values): .array(values.map { $0.replacing(secrets) })
        case .dictionary(let values): .dictionary(values.mapValues { $0.replacing(secrets) })
        case .integer, .real, .boolean, .data: self
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(length: Int) {
        for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: length >> shift)) }
    }
}
