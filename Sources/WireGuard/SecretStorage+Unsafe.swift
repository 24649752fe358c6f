internal import CSodium

/// Thirty-two secret bytes on the heap that are wiped when the last reference goes.
///
/// SAFETY: the pointer is allocated, written once and freed by this class alone; after `init` it is only read, so
/// sharing it between threads is sound.
@safe
final class SecretStorage: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<Key256>

    init(_ key: Key256) {
        let pointer = UnsafeMutablePointer<Key256>.allocate(capacity: 1)
        unsafe pointer.initialize(to: key)
        unsafe self.pointer = pointer
    }

    /// The bytes, by value: the copy is the reader's to keep short-lived.
    var value: Key256 { unsafe pointer.pointee }

    deinit {
        // SAFETY: the allocation is ours and holds one initialised Key256.
        unsafe sodium_memzero(pointer, MemoryLayout<Key256>.size)
        unsafe pointer.deallocate()
    }
}

/// Overwrites a secret that lives in a variable, in a way the optimiser keeps.
func wipe<Value: BitwiseCopyable>(_ value: inout Value) {
    // SAFETY: BitwiseCopyable values of this module are plain integers, for which all bits zero is a valid value.
    unsafe withUnsafeMutableBytes(of: &value) { unsafe sodium_memzero($0.baseAddress, $0.count) }
}
