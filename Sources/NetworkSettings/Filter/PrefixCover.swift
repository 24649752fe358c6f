import Netlink

/// Which addresses of a family routes lead into the tunnel, where the longest prefix decides.
enum PrefixCover {
    /// The addresses whose longest prefix is an included one, as ascending ranges that do not touch.
    static func ranges(
        included: [IPPrefix], excluded: [IPPrefix], _ family: AddressFamily
    ) -> [ClosedRange<IPAddress>] {
        let out = Set(excluded.filter { $0.family == family })
        let entries =
            Set(included.filter { $0.family == family }).subtracting(out).map { ($0, true) } + out.map { ($0, false) }
        var cover = Cover(family: family)
        for (prefix, isInside) in entries.sorted(by: { $0.0 < $1.0 }) { cover.enter(prefix, isInside) }
        cover.leaveAll()
        return cover.ranges
    }

    /// The prefixes that hold the cursor, the narrowest last: two prefixes are nested or apart.
    private struct Cover {
        let family: AddressFamily
        var ranges: [ClosedRange<IPAddress>] = []
        private var open: [(last: UInt128, isInside: Bool)] = []
        /// The first address that is not decided about.
        private var cursor: UInt128 = 0

        init(family: AddressFamily) { self.family = family }

        mutating func enter(_ prefix: IPPrefix, _ isInside: Bool) {
            let first = prefix.address.bits
            while let top = open.last, top.last < first { leave(top) }
            if let top = open.last, cursor < first { emit(through: first - 1, top.isInside) }
            cursor = first
            open.append((prefix.lastBits, isInside))
        }

        mutating func leaveAll() {
            while let top = open.last {
                leave(top)
                // Whatever is still open ends here too.
                if top.last == .max { return }
            }
        }

        private mutating func leave(_ top: (last: UInt128, isInside: Bool)) {
            if cursor <= top.last { emit(through: top.last, top.isInside) }
            cursor = top.last &+ 1
            open.removeLast()
        }

        private mutating func emit(through last: UInt128, _ isInside: Bool) {
            guard isInside else { return }
            let end = IPAddress(family: family, bits: last)
            if let earlier = ranges.last, cursor > 0, earlier.upperBound == IPAddress(family: family, bits: cursor - 1)
            {
                ranges[ranges.count - 1] = earlier.lowerBound...end
            } else {
                ranges.append(IPAddress(family: family, bits: cursor)...end)
            }
        }
    }
}

extension IPPrefix {
    /// The left-aligned bits of the last address, all bits beyond the family's width set.
    fileprivate var lastBits: UInt128 { address.bits | UInt128.max >> UInt128(length) }

    /// The first and the last address.
    var range: ClosedRange<IPAddress> { address...IPAddress(family: family, bits: lastBits) }
}
