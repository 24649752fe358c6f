internal import CTun

/// A bounded window of memory with big-endian accessors; every access is checked against `count`.
///
/// SAFETY: a view does not own its memory. Views are made only by `Slab` and by the scoped functions below, and the
/// types that keep one (`TransmitPath`, `ReceivePath`) own the slab it points into.
@safe
struct ByteView {
    private let base: UnsafeMutableRawPointer
    let count: Int

    init(base: UnsafeMutableRawPointer, count: Int) {
        unsafe self.base = base
        self.count = count
    }

    /// The address of `offset` after checking that `length` bytes follow it.
    @inline(always)
    func pointer(_ offset: Int, _ length: Int) -> UnsafeMutableRawPointer {
        precondition(offset >= 0 && length >= 0 && length <= count && offset <= count - length, "outside the view")
        return unsafe base + offset
    }

    @inline(always)
    func slice(_ offset: Int, _ length: Int) -> ByteView {
        unsafe ByteView(base: pointer(offset, length), count: length)
    }

    @inline(always)
    func load8(_ offset: Int) -> UInt8 { unsafe pointer(offset, 1).load(as: UInt8.self) }

    @inline(always)
    func load16(_ offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafe pointer(offset, 2).loadUnaligned(as: UInt16.self))
    }

    @inline(always)
    func load32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: unsafe pointer(offset, 4).loadUnaligned(as: UInt32.self))
    }

    @inline(always)
    func load64(_ offset: Int) -> UInt64 {
        UInt64(bigEndian: unsafe pointer(offset, 8).loadUnaligned(as: UInt64.self))
    }

    @inline(always)
    func load128(_ offset: Int) -> UInt128 {
        UInt128(load64(offset)) << 64 | UInt128(load64(offset + 8))
    }

    @inline(always)
    func store8(_ value: UInt8, _ offset: Int) { unsafe pointer(offset, 1).storeBytes(of: value, as: UInt8.self) }

    @inline(always)
    func store16(_ value: UInt16, _ offset: Int) {
        unsafe pointer(offset, 2).storeBytes(of: value.bigEndian, as: UInt16.self)
    }

    @inline(always)
    func store32(_ value: UInt32, _ offset: Int) {
        unsafe pointer(offset, 4).storeBytes(of: value.bigEndian, as: UInt32.self)
    }

    @inline(always)
    func store64(_ value: UInt64, _ offset: Int) {
        unsafe pointer(offset, 8).storeBytes(of: value.bigEndian, as: UInt64.self)
    }

    /// Copies bytes inside the view or from another one; the ranges may overlap.
    @inline(always)
    func copy(from source: ByteView, at offset: Int, to target: Int, count length: Int) {
        unsafe pointer(target, length).copyMemory(from: source.pointer(offset, length), byteCount: length)
    }

    @inline(always)
    func zero(_ offset: Int, _ length: Int) {
        guard length > 0 else { return }
        unsafe pointer(offset, length).initializeMemory(as: UInt8.self, repeating: 0, count: length)
    }

    func equals(_ offset: Int, _ other: ByteView, at otherOffset: Int, count length: Int) -> Bool {
        let left = slice(offset, length)
        let right = other.slice(otherOffset, length)
        var index = 0
        while index + 4 <= length {
            if left.load32(index) != right.load32(index) { return false }
            index += 4
        }
        while index < length {
            if left.load8(index) != right.load8(index) { return false }
            index += 1
        }
        return true
    }

    /// Adds bytes to a running Internet checksum (RFC 1071) of native-order words.
    @inline(always)
    func checksum(_ offset: Int, _ length: Int, adding sum: UInt64 = 0) -> UInt64 {
        unsafe ctun_checksum_add(pointer(offset, length), length, sum)
    }

    /// Stores a folded sum, which is in native order, as it is.
    @inline(always)
    func storeNative16(_ value: UInt16, _ offset: Int) {
        unsafe pointer(offset, 2).storeBytes(of: value, as: UInt16.self)
    }

    @inline(always)
    func loadNative16(_ offset: Int) -> UInt16 {
        unsafe pointer(offset, 2).loadUnaligned(as: UInt16.self)
    }

    /// Runs `body` on a view of a span's bytes, which must only be read.
    static func withReadable<R>(of span: RawSpan, _ body: (ByteView) -> R) -> R {
        unsafe span.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else {
                var nothing: UInt8 = 0
                return unsafe withUnsafeMutablePointer(to: &nothing) { unsafe body(ByteView(base: $0, count: 0)) }
            }
            // SAFETY: the callers only send the bytes.
            return unsafe body(ByteView(base: UnsafeMutableRawPointer(mutating: base), count: bytes.count))
        }
    }

    /// Copies a span's bytes into the view.
    func copy(from span: RawSpan, to target: Int) {
        let length = span.byteCount
        let destination = unsafe pointer(target, length)
        unsafe span.withUnsafeBytes { source in
            guard let address = source.baseAddress else { return }
            unsafe destination.copyMemory(from: address, byteCount: length)
        }
    }
}

/// Folds a running sum and complements it: the value of a checksum field, in native order.
@inline(always)
func checksumField(_ sum: UInt64) -> UInt16 { ~ctun_checksum_fold(sum) }

/// A 16-bit number as it stands in the header, as a native-order word for a running sum.
@inline(always)
func checksumWord(_ value: Int) -> UInt64 { UInt64(UInt16(truncatingIfNeeded: value).bigEndian) }
