import Glibc
import ProviderKit
import WireGuard

/// The sockets through which names are asked for, one for each family that is there.
struct OutsideSockets: ~Copyable {
    private static let port: UInt16 = 53
    /// The largest answer by UDP without an extension (RFC 1035 section 4.2.1), and some room for servers that do not count.
    private static let largestAnswer = 4096

    private let ipv4: Int32?
    private let ipv6: Int32?

    /// Takes over the descriptors.
    init(_ opened: UDPSockets) {
        ipv4 = opened.ipv4
        ipv6 = opened.ipv6
    }

    deinit {
        for descriptor in [ipv4, ipv6].compactMap(\.self) { close(descriptor) }
    }

    var hasIPv4: Bool { ipv4 != nil }
    var hasIPv6: Bool { ipv6 != nil }

    /// Whether there is a socket for the family of an address.
    func canReach(_ address: IPAddress) -> Bool { descriptor(for: address) != nil }

    /// Sends a question; what goes wrong shows as a missing answer.
    func send(_ bytes: [UInt8], to server: IPAddress) {
        guard let descriptor = descriptor(for: server) else { return }
        _ = unsafe Self.withAddress(server, port: Self.port) { address, length in
            // SAFETY: `sendto` reads `count` bytes of an array of `count` bytes.
            unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length)
        }
    }

    /// Waits for a datagram of a server; others are passed over.
    ///
    /// - Returns: nil when the time is over.
    func receive(from server: IPAddress, until deadline: Instant) -> [UInt8]? {
        guard let descriptor = descriptor(for: server) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.largestAnswer)
        while true {
            let now = Clock.now()
            guard now < deadline else { return nil }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, Int32(clamping: (deadline - now).nanoseconds / 1_000_000 + 1))
            var source = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let count = unsafe withUnsafeMutablePointer(to: &source) { pointer in
                // SAFETY: `recvfrom` writes at most `count` bytes of the array and `length` bytes of the address.
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe recvfrom(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            guard count > 0 else { continue }
            let sender = unsafe withUnsafeMutablePointer(to: &source) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe Endpoint($0) }
            }
            guard let sender, sender.address == server, sender.port == Self.port else { continue }
            return Array(bytes[..<count])
        }
    }

    /// The addresses that there is a socket for: first those that a route leads to.
    func usable(_ addresses: [IPAddress]) -> [IPAddress] {
        let routed = addresses.filter { hasRoute(to: $0) }
        return routed + addresses.filter { canReach($0) && !routed.contains($0) }
    }

    /// Whether a route leads there: a connect of a UDP socket sends nothing and looks for one.
    private func hasRoute(to address: IPAddress) -> Bool {
        guard let descriptor = descriptor(for: address) else { return false }
        let result = unsafe Self.withAddress(address, port: Self.port) { Int(unsafe connect(descriptor, $0, $1)) }
        if result == 0 { Self.disconnect(descriptor) }
        return result == 0
    }

    /// Lets a socket hear others again (connect(2), AF_UNSPEC).
    private static func disconnect(_ descriptor: Int32) {
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe connect(descriptor, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func descriptor(for address: IPAddress) -> Int32? {
        switch address {
        case .v4: ipv4
        case .v6: ipv6
        }
    }

    /// Lends a socket address to a call.
    private static func withAddress(
        _ address: IPAddress, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int
    ) -> Int {
        switch address {
        case .v4(let value):
            var ipv4 = sockaddr_in()
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            ipv4.sin_addr.s_addr = value.bigEndian
            return unsafe withUnsafePointer(to: &ipv4) { pointer in
                // SAFETY: the family says which structure lies there (ip(7)).
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .v6(let value):
            var ipv6 = sockaddr_in6()
            ipv6.sin6_family = sa_family_t(AF_INET6)
            ipv6.sin6_port = port.bigEndian
            unsafe ipv6.sin6_addr = unsafeBitCast(value.bigEndian, to: in6_addr.self)
            return unsafe withUnsafePointer(to: &ipv6) { pointer in
                // SAFETY: the family says which structure lies there (ipv6(7)).
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}

extension NameFiles {
    private static let sizeLimit = 1 << 16

    /// The files of this machine; one that cannot be read is empty.
    static var system: NameFiles {
        NameFiles(
            hosts: read("/etc/hosts") ?? "", current: read("/etc/resolv.conf") ?? "",
            kept: read("/etc/resolv.conf.providerhost"), uplink: read("/run/systemd/resolve/resolv.conf"))
    }

    private static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit)
        var filled = 0
        while filled < sizeLimit {
            // SAFETY: `read` writes at most as many bytes as are left behind the offset.
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), sizeLimit - filled)
            }
            guard count > 0 else { break }
            filled += count
        }
        return String(decoding: bytes[..<filled], as: UTF8.self)
    }
}
