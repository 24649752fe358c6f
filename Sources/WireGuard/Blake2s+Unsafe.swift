internal import CBlake2
internal import CSodium

/// BLAKE2s (RFC 7693) by libb2, plain or keyed, of up to 32 bytes.
struct Blake2s {
    private var state = blake2s_state()
    private let size: Int

    /// Starts a hash of `size` bytes, 1 to 32.
    init(size: Int) {
        self.size = size
        // SAFETY: the state is ours; libb2 only reads the size.
        _ = unsafe blake2s_init(&state, size)
    }

    /// Starts a keyed hash of `size` bytes with the first `keyCount` bytes of `key`.
    init(size: Int, key: Key256, keyCount: Int) {
        precondition(keyCount > 0 && keyCount <= 32)
        self.size = size
        // SAFETY: `keyCount` is at most the 32 bytes behind the pointer.
        unsafe key.withBytes { _ = unsafe blake2s_init_key(&state, size, $0, keyCount) }
    }

    mutating func update(_ key: Key256) {
        // SAFETY: the pointer covers 32 bytes.
        unsafe key.withBytes { _ = unsafe blake2s_update(&state, $0, 32) }
    }

    mutating func update(_ byte: UInt8) {
        // SAFETY: the pointer covers one byte.
        unsafe withUnsafePointer(to: byte) { _ = unsafe blake2s_update(&state, $0, 1) }
    }

    mutating func update(_ bytes: RawSpan) {
        // SAFETY: pointer and count are the span's own.
        unsafe bytes.withUnsafeBytes {
            guard let start = $0.baseAddress else { return }
            _ = unsafe blake2s_update(&state, start.assumingMemoryBound(to: UInt8.self), $0.count)
        }
    }

    mutating func update(_ bytes: [UInt8]) {
        update(bytes.rawBytes)
    }

    /// Ends the hash and wipes the state; bytes beyond the size are zero.
    mutating func finish() -> Key256 {
        var result = Key256.zero
        // SAFETY: the output covers 32 bytes, at least `size`; the state is plain integers.
        unsafe result.withMutableBytes { _ = unsafe blake2s_final(&state, $0, size) }
        unsafe sodium_memzero(&state, MemoryLayout<blake2s_state>.size)
        return result
    }
}
