import Foundation
import Glibc
import Synchronization

/// A name server on port 53 of a network namespace, which knows one IPv4 address of one name at a time.
package final class NameServer: Sendable {
    private let asked = Mutex<[String]>([])
    /// The four bytes of the answer.
    private let address: Mutex<[UInt8]>
    private let isStopping = Atomic<Bool>(false)
    private let descriptor = Atomic<Int32>(-1)
    private let finished = DispatchSemaphore(value: 0)

    /// Serves from now on.
    ///
    /// - Parameters:
    ///   - namespace: The name of the namespace, as `ip netns` knows it.
    ///   - host: The four bytes of the address that it is asked and answers at; any by default.
    ///   - name: The name that is known, in lower case.
    ///   - address: Its four bytes.
    /// - Throws: That the port cannot be had there.
    package init(
        in namespace: String, at host: [UInt8] = [0, 0, 0, 0], name: String, address: [UInt8]
    ) throws {
        self.address = Mutex(address)
        let opened = DispatchSemaphore(value: 0)
        // The namespace is the thread's: the socket stays in it.
        let thread = Thread { [self] in
            let made = Self.open(in: namespace, host)
            descriptor.store(made, ordering: .releasing)
            opened.signal()
            if made >= 0 { serve(made, name) }
            finished.signal()
        }
        thread.start()
        opened.wait()
        guard descriptor.load(ordering: .acquiring) >= 0 else { throw NetworkNamespace.Refused(code: EADDRINUSE) }
    }

    /// The names that were asked for until now.
    package var questions: [String] { asked.withLock { $0 } }

    /// Gives another address from now on.
    package func change(to address: [UInt8]) { self.address.withLock { $0 = address } }

    /// Ends the server.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        finished.wait()
    }

    private func serve(_ descriptor: Int32, _ name: String) {
        defer { close(descriptor) }
        while !isStopping.load(ordering: .acquiring) {
            var bytes = [UInt8](repeating: 0, count: 512)
            var source = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = unsafe withUnsafeMutablePointer(to: &source) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
                }
            }
            guard count > 12, let reply = answer(Array(bytes[..<count]), name, address.withLock { $0 }) else {
                continue
            }
            _ = unsafe withUnsafePointer(to: &source) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe sendto(descriptor, reply, reply.count, 0, $0, length)
                }
            }
        }
    }

    private func answer(_ question: [UInt8], _ known: String, _ address: [UInt8]) -> [UInt8]? {
        var labels: [String] = []
        var offset = 12
        while offset < question.count, question[offset] > 0, offset + Int(question[offset]) < question.count {
            labels.append(String(decoding: question[(offset + 1)...(offset + Int(question[offset]))], as: UTF8.self))
            offset += 1 + Int(question[offset])
        }
        guard offset + 5 <= question.count else { return nil }
        let name = labels.joined(separator: ".").lowercased()
        asked.withLock { $0.append(name) }
        let isKnown = name == known
        let record: [UInt8] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
        // An answer for IPv4 alone: of another kind the name has none.
        let hasAnswer = isKnown && question[offset + 2] == 1
        let head: [UInt8] = [
            question[0], question[1], 0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, hasAnswer ? 1 : 0, 0, 0, 0, 0,
        ]
        return head + question[12..<(offset + 5)] + (hasAnswer ? record : [])
    }

    private static func open(in namespace: String, _ host: [UInt8]) -> Int32 {
        typealias SetNamespace = @convention(c) (CInt, CInt) -> CInt
        let file = unsafe Glibc.open("/run/netns/\(namespace)", O_RDONLY | O_CLOEXEC)
        guard file >= 0, let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "setns") else { return -1 }
        defer { close(file) }
        // SAFETY: the signature is that of setns(2), which the Glibc module does not show.
        let enter = unsafe unsafeBitCast(symbol, to: SetNamespace.self)
        guard enter(file, 0) == 0 else { return -1 }
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 0, tv_usec: 100_000)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var local = sockaddr_in()
        local.sin_family = sa_family_t(AF_INET)
        local.sin_port = UInt16(53).bigEndian
        local.sin_addr.s_addr = host.reduce(0) { $0 << 8 | UInt32($1) }.bigEndian
        let result = unsafe withUnsafePointer(to: &local) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}
