/// Reading a packet's header fields: big-endian, as IP and everything above it has them.
extension RawSpan {
    /// The byte at `offset`.
    ///
    /// - Precondition: `offset` is within the span.
    @inlinable
    public func byte(at offset: Int) -> UInt8 {
        // SAFETY: a byte may have any value; the load checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The 16-bit number at `offset`, most significant byte first.
    ///
    /// - Precondition: Both bytes are within the span.
    @inlinable
    public func uint16(at offset: Int) -> UInt16 {
        // SAFETY: as above.
        UInt16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
}

/// Editing a packet's header fields.
extension MutableRawSpan {
    /// Writes one byte.
    ///
    /// - Precondition: `offset` is within the span.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func setByte(_ value: UInt8, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }

    /// Writes a 16-bit number, most significant byte first.
    ///
    /// - Precondition: Both bytes are within the span.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func setUInt16(_ value: UInt16, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    /// Exchanges two fields of `count` bytes each.
    ///
    /// - Precondition: Both fields are within the span and do not overlap.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func swapFields(_ first: Int, _ second: Int, count: Int) {
        for index in 0..<count {
            let byte = bytes.byte(at: first + index)
            setByte(bytes.byte(at: second + index), at: first + index)
            setByte(byte, at: second + index)
        }
    }
}
