extension [UInt8] {
    /// Copies the bytes of a span.
    init(unsafeReading span: RawSpan) {
        // SAFETY: the copy is made while the span is borrowed.
        self = unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
