import Glibc

/// Questions to a family of generic netlink (linux/genetlink.h).
struct GenericChannel: ~Copyable {
    static let bus: Int32 = 16
    /// Length of struct genlmsghdr: command, version, two bytes that are not used.
    static let headerLength = 4
    private static let controller: UInt16 = 0x10
    private static let getFamily: UInt8 = 3
    private static let familyNumber: UInt16 = 1
    private static let familyName: UInt16 = 2

    private let socket: RawSocket
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(socket: consuming RawSocket) {
        socket.setReceiveTimeout(seconds: 2)
        self.socket = socket
    }

    /// The number of a family; nil where the kernel does not have it.
    mutating func family(named name: String) throws(RawSocket.Failure) -> UInt16? {
        do throws(RawSocket.Failure) {
            return try ask(Self.controller, Self.getFamily, isDump: false) { (builder) in
                builder.attribute(Self.familyName, string: name)
            } decode: { (attributes) in
                attributes.integer(Self.familyNumber, as: UInt16.self)
            }
            .first
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Everything that a command of a family lists, for the attributes that `body` writes.
    mutating func dump<Value>(
        _ family: UInt16, command: UInt8, body: (inout MessageBuilder) -> Void = { _ in },
        decode: (Attributes) -> Value?
    ) throws(RawSocket.Failure) -> [Value] {
        try ask(family, command, isDump: true, body: body, decode: decode)
    }

    private mutating func ask<Value>(
        _ type: UInt16, _ command: UInt8, isDump: Bool, body: (inout MessageBuilder) -> Void,
        decode: (Attributes) -> Value?
    ) throws(RawSocket.Failure) -> [Value] {
        sequence += 1
        var builder = MessageBuilder()
        let flags = MessageFlags.request | (isDump ? MessageFlags.dump : 0)
        builder.message(type: type, flags: flags, sequence: sequence) { builder in
            builder.append(command)
            builder.append(UInt8(1))
            builder.append(UInt16(0))
            body(&builder)
        }
        try socket.send(builder.bytes)
        var values: [Value] = []
        while true {
            let count = try socket.receive(into: &buffer)
            for message in Message.split(buffer.prefix(count)) where message.sequence == sequence {
                switch message.type {
                case MessageType.error, MessageType.done:
                    let code = message.errorContent.code
                    guard code == 0 else { throw RawSocket.Failure(code: code) }
                    return values
                default:
                    if let value = decode(message.attributes(after: Self.headerLength)) { values.append(value) }
                    if !isDump { return values }
                }
            }
        }
    }
}
