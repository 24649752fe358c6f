public import WireGuard

/// A resolver that a gateway offers.
public struct DNSServer: Sendable, Hashable, CustomStringConvertible {
    /// How the resolver is asked.
    public enum Transport: UInt8, Sendable, Hashable {
        /// UDP, and TCP for long answers.
        case plain = 0
        case tls = 1
        case https = 2
    }

    /// Where it is.
    public let address: IPAddress
    /// Its port, never 0.
    public let port: UInt16
    /// How it is asked.
    public let transport: Transport
    /// The name in its certificate; nil for plain DNS.
    public let name: DomainName?

    /// Makes a resolver; nil for port 0, and for a name that plain DNS has no use for.
    public init?(address: IPAddress, port: UInt16, transport: Transport, name: DomainName?) {
        guard port != 0, transport != .plain || name == nil else { return nil }
        self.address = address
        self.port = port
        self.transport = transport
        self.name = name
    }

    /// Makes a resolver for plain DNS at port 53.
    public init(address: IPAddress) {
        self.address = address
        port = 53
        transport = .plain
        name = nil
    }

    public var description: String { "\(address)" }

    func write(to writer: inout WireWriter) {
        writer.writeFamily(of: address)
        writer.write(address.bytes)
        writer.write(port)
        writer.write(transport.rawValue)
        writer.write(name)
    }

    init(from reader: inout WireReader) throws(SettingsFinding) {
        let bitWidth = try reader.readFamily()
        let address = try reader.readAddress(bitWidth: bitWidth)
        let port = try reader.readUInt16()
        guard let transport = Transport(rawValue: try reader.readUInt8()) else { throw SettingsFinding(.badValue) }
        let name = try reader.readName()
        guard let server = DNSServer(address: address, port: port, transport: transport, name: name) else {
            throw SettingsFinding(.nonCanonical)
        }
        self = server
    }
}
