import Glibc

extension IPAddress: CustomStringConvertible, LosslessStringConvertible {
    /// Parses dotted decimal or RFC 4291 text; nil for anything else, also for a zone, a port or surrounding space.
    public init?(_ text: String) {
        // The C function stops at the first NUL, so text behind one would go unnoticed.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        let family: AddressFamily = text.utf8.contains(UInt8(ascii: ":")) ? .ipv6 : .ipv4
        var bytes = [UInt8](repeating: 0, count: family.byteCount)
        // SAFETY: inet_pton writes 4 or 16 bytes, by family, and `bytes` is that long.
        let status = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(Int32(family.rawValue), text, $0.baseAddress)
        }
        guard status == 1 else { return nil }
        self.init(family: family, bytes: bytes)
    }

    /// Dotted decimal, or the shortest IPv6 form (RFC 5952).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        // SAFETY: inet_ntop reads 4 or 16 bytes, by family, which is what `bytes` holds; INET6_ADDRSTRLEN fits every text.
        unsafe bytes.withUnsafeBytes { source in
            _ = unsafe inet_ntop(Int32(family.rawValue), source.baseAddress, &text, socklen_t(INET6_ADDRSTRLEN))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
