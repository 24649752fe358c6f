internal import CSodium

/// A secret in memory of its own: kept out of swap and core dumps, and wiped when the last reference goes.
///
/// SAFETY: the memory is written once, in `init`, before anybody else has the reference, and only read afterwards.
@safe
public final class SecretBytes: @unchecked Sendable {
    private let start: UnsafeMutablePointer<UInt8>
    /// The number of bytes.
    public let count: Int

    /// Lets `fill` write the secret into `count` bytes.
    init(count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        precondition(sodium_init() >= 0, "libsodium cannot be used")
        // SAFETY: sodium_malloc gives `count` bytes between guard pages, or nil.
        guard let memory = unsafe sodium_malloc(count) else { preconditionFailure("no memory for a secret") }
        unsafe start = memory.bindMemory(to: UInt8.self, capacity: count)
        self.count = count
        unsafe fill(start)
    }

    deinit { unsafe sodium_free(start) }

    /// Takes the bytes over and wipes them where they were.
    ///
    /// Only this array is wiped: no other copy of it should have been made.
    public convenience init(wiping bytes: inout [UInt8]) {
        let count = bytes.count
        // SAFETY: both have `count` bytes.
        unsafe self.init(count: count) { unsafe $0.update(from: bytes, count: count) }
        Self.wipe(&bytes)
    }

    /// Copies bytes that others hold as well, and that can therefore not be wiped.
    public convenience init(copying bytes: [UInt8]) {
        // SAFETY: both have `count` bytes.
        unsafe self.init(count: bytes.count) { unsafe $0.update(from: bytes, count: bytes.count) }
    }

    /// Copies the UTF-8 of a text, which cannot be wiped.
    public convenience init(_ text: String) {
        var bytes = Array(text.utf8)
        self.init(wiping: &bytes)
    }

    /// Makes random bytes.
    convenience init(randomCount count: Int) {
        unsafe self.init(count: count) { unsafe randombytes_buf($0, count) }
    }

    /// Lends the secret for the length of a call.
    public func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: the memory lives as long as this object, which the caller holds.
        try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
    }

    /// Lends the secret to C, together with its ``count``.
    func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        unsafe body(start)
    }

    /// The secret in ordinary memory: the caller wipes it with ``wipe(_:)``.
    public func unprotectedCopy() -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }

    /// Overwrites bytes in a way that the optimiser keeps; another copy of the array stays as it is.
    public static func wipe(_ bytes: inout [UInt8]) {
        // SAFETY: the array's own count is passed.
        unsafe sodium_memzero(&bytes, bytes.count)
        bytes = []
    }
}

extension SecretBytes: Equatable {
    /// Compares without an early exit.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe sodium_memcmp(left.start, right.start, left.count) == 0
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
