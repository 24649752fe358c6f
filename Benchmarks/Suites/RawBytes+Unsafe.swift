extension [UInt8] {
    /// The array's bytes, lent.
    var rawBytes: RawSpan {
        @_lifetime(borrow self)
        borrowing get { unsafe span.bytes }
    }
}
