/// A message as it travels: a header of 24 bytes, then the body.
///
/// ```
///  0        4         6      8        12      16                24
///  | "PHMW" | version | kind | length | flags | identifier      | body …
/// ```
/// All numbers are little-endian. A body over ``inlineLimit`` is not in the frame but in sealed memory, whose descriptor
/// is then the first one of the frame.
struct Frame: Sendable {
    /// The version of header and bodies; the two ends come from one build, so it must be equal.
    static let version: UInt16 = 1
    static let headerLength = 24
    /// The longest body inside the frame.
    static let inlineLimit = 65_536
    /// The longest body at all.
    static let bodyLimit = 64 << 20
    private static let magic: UInt32 = 0x574d_4850
    private static let bodyIsShared: UInt32 = 1

    /// The header.
    let header: [UInt8]
    /// The length of the body, wherever it is.
    let bodyLength: Int
    /// The body, empty where it is in sealed memory.
    let body: [UInt8]
    /// The sealed memory where there is one, then the descriptors of the message.
    let descriptors: [Descriptor]

    /// Encodes a message.
    init(_ message: some ChannelMessage, descriptors: [Descriptor]) throws(ChannelError) {
        guard descriptors.count == message.descriptorCount else {
            throw .wrongDescriptors(expected: message.descriptorCount, actual: descriptors.count)
        }
        let bytes = try message.encodeBody()
        guard bytes.count <= Self.bodyLimit else { throw .bodyTooLong(bytes.count) }
        let isShared = bytes.count > Self.inlineLimit

        var header: [UInt8] = []
        header.reserveCapacity(Self.headerLength)
        header.append(Self.magic)
        header.append(Self.version)
        header.append(message.kind)
        header.append(UInt32(bytes.count))
        header.append(isShared ? Self.bodyIsShared : 0)
        header.append(message.id)
        self.header = header
        bodyLength = bytes.count
        body = isShared ? [] : bytes
        self.descriptors = isShared ? [try ChannelSystem.sealedMemory(bytes)] + descriptors : descriptors
    }

    /// Decodes a frame; every byte of it is the sender's choice.
    ///
    /// - Returns: The message and the descriptors that belong to it; all others are closed.
    static func decode<Message: ChannelMessage>(
        _ frame: [UInt8], descriptors: [Descriptor], as type: Message.Type
    ) throws(ChannelError) -> (message: Message, descriptors: [Descriptor]) {
        guard frame.count >= headerLength else { throw .truncatedHeader(length: frame.count) }
        guard frame.littleEndian(UInt32.self, at: 0) == magic else { throw .wrongMagic }
        let version = frame.littleEndian(UInt16.self, at: 4)
        guard version == Self.version else { throw .wrongVersion(version) }
        let kind = frame.littleEndian(UInt16.self, at: 6)
        let length = Int(frame.littleEndian(UInt32.self, at: 8))
        guard length <= bodyLimit else { throw .bodyTooLong(length) }
        let flags = frame.littleEndian(UInt32.self, at: 12)
        guard flags & ~bodyIsShared == 0 else {
            throw .malformedBody(kind: kind, reason: "unknown flags \(flags)")
        }
        let id = frame.littleEndian(UInt64.self, at: 16)

        var descriptors = descriptors[...]
        let body: [UInt8]
        let inlineLength = frame.count - headerLength
        if flags & bodyIsShared == 0 {
            guard inlineLength == length else { throw .wrongLength(declared: length, actual: inlineLength) }
            body = Array(frame[headerLength...])
        } else {
            guard inlineLength == 0 else { throw .wrongLength(declared: 0, actual: inlineLength) }
            guard let memory = descriptors.popFirst() else { throw .unsealedBody }
            body = try ChannelSystem.readSealedMemory(memory, length: length)
        }
        let message = try Message(kind: kind, id: id, body: body)
        guard descriptors.count == message.descriptorCount else {
            throw .wrongDescriptors(expected: message.descriptorCount, actual: descriptors.count)
        }
        return (message, Array(descriptors))
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }

    fileprivate func littleEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number {
        self[offset..<offset + Number.bitWidth / 8].reversed().reduce(0) { $0 << 8 | Number($1) }
    }
}
