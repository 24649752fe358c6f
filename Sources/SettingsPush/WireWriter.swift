import WireGuard

/// Appends big-endian values: the inverse of ``WireReader``.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func write(_ value: [UInt8]) { bytes += value }

    mutating func writeFamily(of address: IPAddress) { write(UInt8(address.bitWidth == 32 ? 4 : 6)) }

    mutating func write(_ prefix: IPPrefix) {
        writeFamily(of: prefix.address)
        write(UInt8(prefix.length))
        write(Array(prefix.address.bytes.prefix((prefix.length + 7) / 8)))
    }

    /// A name's labels and the empty one that ends it; only that for nil.
    mutating func write(_ name: DomainName?) {
        for label in name?.labels ?? [] {
            write(UInt8(label.count))
            write(label)
        }
        write(UInt8(0))
    }
}
