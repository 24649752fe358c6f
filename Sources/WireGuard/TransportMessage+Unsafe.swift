internal import CSodium

/// Seals and opens single transport data messages with libsodium: keepalives, staged packets, tests.
///
/// The bulk path uses another AEAD back end with the same key and counter.
public enum TransportMessage {
    /// Makes the whole datagram for one inner packet; `paddedTo` is at least its length (see `Padding`).
    public static func seal(_ packet: [UInt8], paddedTo length: Int, key: Key256, header: DataHeader) -> [UInt8] {
        precondition(length >= packet.count)
        var datagram = [UInt8](repeating: 0, count: MessageSize.dataOverhead + length)
        datagram.replaceSubrange(MessageSize.dataHeader..<MessageSize.dataHeader + packet.count, with: packet)
        // SAFETY: the span lives within the call that lends the array's bytes.
        unsafe datagram.withUnsafeMutableBytes { bytes in
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            seal(inPlace: &span, key: key, header: header)
        }
        return datagram
    }

    /// Opens a whole datagram; nil if it is not transport data or its tag is wrong.
    ///
    /// The result keeps its padding.
    public static func open(_ datagram: [UInt8], key: Key256) -> [UInt8]? {
        var copy = datagram
        // SAFETY: as in `seal`.
        let opened = unsafe copy.withUnsafeMutableBytes { bytes in
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            return open(inPlace: &span, key: key)
        }
        guard opened else { return nil }
        return Array(copy[MessageSize.dataHeader..<copy.count - AEAD.tagSize])
    }

    /// Seals in place: the span is the whole datagram, with the padded packet already behind the 16 bytes of the header.
    public static func seal(inPlace datagram: inout MutableRawSpan, key: Key256, header: DataHeader) {
        precondition(datagram.byteCount >= MessageSize.dataOverhead)
        let words = header.words
        let count = datagram.byteCount - MessageSize.dataOverhead
        let nonce = AEAD.nonce(header.counter)
        // SAFETY: the precondition gives room for header, `count` bytes and tag; libsodium allows equal in and out
        // pointers; the nonce has 32 bytes of which the cipher reads 12.
        unsafe datagram.withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: words.0, as: UInt64.self)
            unsafe bytes.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
            guard let start = unsafe bytes.baseAddress?.advanced(by: 16).assumingMemoryBound(to: UInt8.self) else {
                return
            }
            unsafe nonce.withBytes { nonce in
                unsafe key.withBytes {
                    _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                        start, nil, start, UInt64(count), nil, 0, nil,
                        nonce, $0)
                }
            }
        }
    }

    /// Opens in place: the padded packet then stands behind the header; false if the tag is wrong, the bytes are then void.
    public static func open(inPlace datagram: inout MutableRawSpan, key: Key256) -> Bool {
        guard let header = DataHeader(datagram.bytes) else { return false }
        let count = datagram.byteCount - MessageSize.dataHeader
        let nonce = AEAD.nonce(header.counter)
        // SAFETY: `DataHeader` proved header and tag present; in and out pointers are equal, as libsodium allows.
        return unsafe datagram.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.baseAddress?.advanced(by: 16).assumingMemoryBound(to: UInt8.self) else {
                return false
            }
            return unsafe nonce.withBytes { nonce in
                unsafe key.withBytes {
                    unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                        start, nil, nil, start, UInt64(count), nil, 0,
                        nonce, $0) == 0
                }
            }
        }
    }
}
