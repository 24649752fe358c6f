/// Little- and big-endian loads from a datagram; each traps beyond the end, so callers check the length once before.
extension RawSpan {
    @inline(__always)
    func littleEndian32(at offset: Int) -> UInt32 {
        // SAFETY: an integer may have any bytes; the bounds are checked by the load.
        unsafe UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inline(__always)
    func littleEndian64(at offset: Int) -> UInt64 {
        // SAFETY: as above.
        unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    func littleEndian128(at offset: Int) -> UInt128 {
        UInt128(littleEndian64(at: offset)) | UInt128(littleEndian64(at: offset + 8)) << 64
    }

    @inline(__always)
    func bigEndian16(at offset: Int) -> UInt16 {
        // SAFETY: as above.
        unsafe UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    @inline(__always)
    func bigEndian32(at offset: Int) -> UInt32 {
        littleEndian32(at: offset).byteSwapped
    }

    @inline(__always)
    func bigEndian128(at offset: Int) -> UInt128 {
        UInt128(littleEndian64(at: offset).byteSwapped) << 64 | UInt128(littleEndian64(at: offset + 8).byteSwapped)
    }

    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        // SAFETY: as above.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// Thirty-two bytes from `offset`.
    @inline(__always)
    func key(at offset: Int) -> Key256 {
        Key256(
            words: SIMD4(
                littleEndian64(at: offset), littleEndian64(at: offset + 8), littleEndian64(at: offset + 16),
                littleEndian64(at: offset + 24)))
    }

    /// A copy of the bytes in a range.
    func copy(_ range: Range<Int>) -> [UInt8] {
        range.map { byte(at: $0) }
    }
}

extension [UInt8] {
    /// The array's bytes as the span that message parsers take.
    var rawBytes: RawSpan {
        @_lifetime(borrow self)
        get {
            // SAFETY: the bytes of UInt8 elements are all initialised and the span borrows the array.
            unsafe _overrideLifetime(span.bytes, borrowing: self)
        }
    }
}
