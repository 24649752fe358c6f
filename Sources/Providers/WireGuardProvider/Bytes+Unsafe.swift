extension RawSpan {
    /// A copy of the bytes.
    var byteArray: [UInt8] {
        // SAFETY: the buffer does not outlive the call.
        unsafe withUnsafeBytes { unsafe [UInt8]($0) }
    }
}

extension [UInt8] {
    /// The bytes without a copy.
    var rawSpan: RawSpan {
        @_lifetime(borrow self)
        // SAFETY: any byte is a valid part of a raw span; the lifetime is that of the array.
        get { unsafe span.bytes }
    }
}
