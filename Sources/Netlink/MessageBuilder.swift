/// Writes netlink messages one behind the other (linux/netlink.h): header, fixed part, attributes padded to 4 bytes.
struct MessageBuilder {
    /// Everything written so far.
    private(set) var bytes: [UInt8] = []

    /// Adds one message; its length is filled in when `body` has written the rest.
    mutating func message(type: UInt16, flags: UInt16, sequence: UInt32, body: (inout MessageBuilder) -> Void) {
        let start = bytes.count
        append(UInt32(0))
        append(type)
        append(flags)
        append(sequence)
        append(UInt32(0))  // port: the kernel knows ours
        body(&self)
        patch(UInt32(bytes.count - start), at: start)
        pad()
    }

    /// Adds an attribute that holds attributes.
    mutating func nested(_ type: UInt16, body: (inout MessageBuilder) -> Void) {
        let start = bytes.count
        append(UInt16(0))
        append(type)
        body(&self)
        patch(UInt16(bytes.count - start), at: start)
    }

    /// Adds an attribute with an integer in host order.
    mutating func attribute(_ type: UInt16, _ value: some FixedWidthInteger) {
        append(UInt16(4 + value.bitWidth / 8))
        append(type)
        append(value)
        pad()
    }

    /// Adds an attribute with these bytes, of which there must be fewer than 65,532.
    mutating func attribute(_ type: UInt16, bytes value: [UInt8]) {
        append(UInt16(4 + value.count))
        append(type)
        bytes += value
        pad()
    }

    /// Adds an attribute with a NUL-terminated string of fewer than 65,531 bytes.
    mutating func attribute(_ type: UInt16, string: String) {
        attribute(type, bytes: Array(string.utf8) + [0])
    }

    /// Adds an integer in host order, with no padding.
    mutating func append(_ value: some FixedWidthInteger) {
        // Low byte first of the little-endian form is host order on both kinds of machine.
        let ordered = value.littleEndian
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: ordered >> shift))
        }
    }

    private mutating func pad() {
        while bytes.count % 4 != 0 { bytes.append(0) }
    }

    private mutating func patch(_ value: some FixedWidthInteger, at offset: Int) {
        let ordered = value.littleEndian
        for index in 0..<value.bitWidth / 8 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: ordered >> (8 * index))
        }
    }
}
