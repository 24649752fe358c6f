import Glibc

/// An interface of the kernel's Wi-Fi stack (nl80211).
public struct WirelessInterface: Hashable, Sendable {
    /// The index of the interface.
    public var index: UInt32
    /// The name of the network that it is connected to; nil while there is none.
    public var ssid: String?

    /// An interface with what it is connected to.
    public init(index: UInt32, ssid: String?) {
        self.index = index
        self.ssid = ssid
    }

    /// Every Wi-Fi interface of the namespace of the calling thread; none where the machine has no Wi-Fi.
    public static func all() throws(NetlinkError) -> [WirelessInterface] {
        do throws(RawSocket.Failure) {
            var channel = GenericChannel(socket: try RawSocket(GenericChannel.bus, groups: 0, isNonblocking: false))
            guard let family = try channel.family(named: "nl80211") else { return [] }
            return try channel.dump(family, command: WirelessNumber.getInterface) { WirelessInterface($0) }
        } catch {
            throw NetlinkError(code: error.code, request: "list Wi-Fi interfaces")
        }
    }

    init?(_ attributes: Attributes) {
        guard let index = attributes.integer(WirelessNumber.index, as: UInt32.self) else { return nil }
        self.index = index
        // 0 to 32 bytes (IEEE 802.11 section 9.4.2.2), mostly UTF-8; an empty one is a hidden network's.
        let name = attributes[WirelessNumber.ssid].map { String(decoding: $0.prefix(32), as: UTF8.self) }
        ssid = name?.isEmpty == false ? name : nil
    }
}

/// Numbers of linux/nl80211.h.
private enum WirelessNumber {
    static let getInterface: UInt8 = 5
    static let index: UInt16 = 3
    static let ssid: UInt16 = 52
}

/// Questions to a family of generic netlink (linux/genetlink.h).
private struct GenericChannel: ~Copyable {
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

    /// Everything that a command of a family lists.
    mutating func dump<Value>(
        _ family: UInt16, command: UInt8, decode: (Attributes) -> Value?
    ) throws(RawSocket.Failure) -> [Value] {
        try ask(family, command, isDump: true, body: { _ in }, decode: decode)
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
