extension Key256 {
    /// BLAKE2s (RFC 7693) of bytes in `size` bytes, 1 to 32; the bytes beyond are zero.
    public init(blake2sOf bytes: [UInt8], size: Int) {
        precondition(size > 0 && size <= 32)
        var hash = Blake2s(size: size)
        hash.update(bytes)
        self = hash.finish()
    }
}
