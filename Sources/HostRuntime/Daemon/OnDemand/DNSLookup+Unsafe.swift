private import DNS
private import Glibc
internal import Netlink

/// Asks DNS servers by hand, where rules name the servers.
enum DNSLookup {
    private static let port: UInt16 = 53

    /// Whether one of the servers has an address for a name; those that do not answer count as without one.
    ///
    /// - Parameters:
    ///   - host: The name.
    ///   - servers: Addresses, asked one after the other.
    ///   - milliseconds: How long all of it may take.
    /// - Returns: True with the first address.
    static func finds(_ host: String, servers: [String], milliseconds: Int32) -> Bool {
        let addresses = servers.compactMap { IPAddress($0) }
        guard !addresses.isEmpty else { return false }
        let share = milliseconds / Int32(clamping: addresses.count)
        return addresses.contains { server in
            guard let socket = connect(to: server) else { return false }
            return ask(host, socket, milliseconds: share)
        }
    }

    /// Asks for both kinds of addresses at once, and waits for an address or for both answers.
    private static func ask(_ host: String, _ socket: Descriptor, milliseconds: Int32) -> Bool {
        let questions = DNSQuestion.AddressType.allCases.compactMap { type in
            DNSQuestion(host, type, identifier: .random(in: .min ... .max))
        }
        for question in questions {
            // SAFETY: the bytes outlive the call, and their own count is passed.
            let sent = unsafe question.bytes.withUnsafeBytes { unsafe send(socket.number, $0.baseAddress, $0.count, 0) }
            // That nobody listens there is told once, and be it by the second question.
            guard sent == question.bytes.count else { return false }
        }
        let end = AlarmClock.now + UInt64(milliseconds) * 1_000_000
        var open = questions
        while !open.isEmpty, let datagram = receive(socket, until: end) {
            for question in open {
                guard let answer = question.answer(in: datagram) else { continue }
                if case .addresses(let addresses) = answer, !addresses.isEmpty { return true }
                open.removeAll { $0 == question }
            }
        }
        return false
    }

    /// The next datagram; nil when there is none in time, or when the server cannot be reached.
    private static func receive(_ socket: Descriptor, until end: UInt64) -> [UInt8]? {
        let now = AlarmClock.now
        let rest = now < end ? Int32(clamping: (end - now) / 1_000_000) : 0
        guard (try? ChannelSystem.waitToRead(socket.number, milliseconds: rest)) ?? false else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(socket.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? Array(buffer.prefix(count)) : nil
    }

    /// A socket that receives from this server only.
    private static func connect(to server: IPAddress) -> Descriptor? {
        let family = Int32(server.family.rawValue)
        let number = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(adopting: number)
        let result: Int32
        switch server.family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(family)
            address.sin_port = port.bigEndian
            // SAFETY: an IPv4 address has the 4 bytes of the field.
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: server.bytes) }
            result = unsafe withUnsafeBytes(of: &address) { unsafe connect(descriptor.number, $0) }
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(family)
            address.sin6_port = port.bigEndian
            // SAFETY: an IPv6 address has the 16 bytes of the field.
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: server.bytes) }
            result = unsafe withUnsafeBytes(of: &address) { unsafe connect(descriptor.number, $0) }
        }
        return result == 0 ? descriptor : nil
    }

    private static func connect(_ socket: Int32, _ address: UnsafeRawBufferPointer) -> Int32 {
        // SAFETY: the bytes are those of a socket address, whose family says how long it is.
        unsafe Glibc.connect(
            socket, address.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
    }
}
