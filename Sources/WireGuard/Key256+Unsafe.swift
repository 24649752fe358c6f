/// The bytes of a `Key256` as C wants them.
extension Key256 {
    /// Lends a pointer to the 32 bytes.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        // SAFETY: Key256 is 32 plain bytes, and the pointer does not outlive the call.
        unsafe withUnsafePointer(to: self) {
            unsafe body(UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Lends a pointer to the 32 bytes, to be written.
    @inline(__always)
    mutating func withMutableBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
        // SAFETY: Key256 is 32 plain bytes of which any value is valid, and the pointer does not outlive the call.
        unsafe withUnsafeMutablePointer(to: &self) {
            unsafe body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self))
        }
    }
}
