/// A fixed number of plain values behind one pointer.
///
/// Arrays of this size inside a path's own struct would be copied with it: Swift 6.3 copies the whole struct for a
/// borrowing call from a mutating one, eleven kilobytes for each packet that is placed.
@safe
struct FixedArray<Element: BitwiseCopyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    let count: Int

    init(repeating value: Element, count: Int) {
        unsafe base = .allocate(capacity: count)
        unsafe base.initialize(repeating: value, count: count)
        self.count = count
    }

    deinit { unsafe base.deallocate() }

    @inline(always)
    private func address(_ index: Int) -> UnsafeMutablePointer<Element> {
        precondition(index >= 0 && index < count, "outside the array")
        return unsafe base + index
    }

    subscript(_ index: Int) -> Element {
        @inline(always)
        unsafeAddress { unsafe UnsafePointer(address(index)) }
        @inline(always)
        unsafeMutableAddress { unsafe address(index) }
    }

    /// The first `count` elements, for reading and writing in place.
    @_lifetime(&self)
    mutating func first(_ count: Int) -> MutableSpan<Element> {
        precondition(count >= 0 && count <= self.count, "outside the array")
        let span = unsafe MutableSpan(_unsafeStart: base, count: count)
        return unsafe _overrideLifetime(span, mutating: &self)
    }
}

// SAFETY: the memory belongs to this one value.
extension FixedArray: @unchecked Sendable where Element: Sendable {}
