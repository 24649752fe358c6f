internal import CSodium

/// A secret value on the heap that is wiped when the last reference goes.
///
/// SAFETY: the pointer is allocated, written once and freed by this class alone; after `init` it is only read, so
/// sharing it between threads is sound.
@safe
final class SecretStorage<Value: BitwiseCopyable>: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<Value>

    init(_ value: Value) {
        let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
        unsafe self.pointer = pointer
    }

    /// The secret, by value: the copy is the reader's to keep short-lived.
    var value: Value { unsafe pointer.pointee }

    deinit {
        // SAFETY: the allocation is ours and holds one initialised value.
        unsafe sodium_memzero(pointer, MemoryLayout<Value>.size)
        unsafe pointer.deallocate()
    }
}

/// Overwrites a secret that lives in a variable, in a way the optimiser keeps.
func wipe<Value: BitwiseCopyable>(_ value: inout Value) {
    // SAFETY: BitwiseCopyable values of this module are plain integers, for which all bits zero is a valid value.
    unsafe withUnsafeMutableBytes(of: &value) { unsafe sodium_memzero($0.baseAddress, $0.count) }
}
