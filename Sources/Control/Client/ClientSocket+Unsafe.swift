private import Glibc
internal import ProviderKit

/// The client's end of the control socket: blocking calls, each with a limit of time.
final class ClientSocket: Sendable {
    /// Never waits inside a call, and never ends the process by SIGPIPE.
    private static let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)

    private let descriptor: Int32

    /// Connects.
    ///
    /// - Throws: ``ControlError``; `noManager` when nobody listens.
    init(path: String) throws(ControlError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ControlError(.pathInvalid, cause: "The path of the control socket has \(bytes.count) bytes: \(path).")
        }
        // SAFETY: `bytes` is shorter than `sun_path`, which is all zero before.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw Self.failure(errno, path) }
        // SAFETY: `address` is a sockaddr of AF_UNIX for the length of the call.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let number = errno
            close(made)
            throw Self.failure(number, path)
        }
        descriptor = made
    }

    deinit { close(descriptor) }

    /// Sends everything.
    func send(_ bytes: [UInt8], seconds: Int) throws(ControlError) {
        var sent = 0
        while sent < bytes.count {
            try wait(Int16(POLLOUT), seconds: seconds)
            // SAFETY: the slice lives for the length of the call.
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Self.flags)
            }
            if count >= 0 {
                sent += count
            } else if errno != EINTR, errno != EAGAIN {
                throw ControlError(.connectionLost)
            }
        }
    }

    /// Receives what is there, waiting for it.
    ///
    /// - Parameter seconds: The limit of the wait, nil for none.
    /// - Returns: At least one byte; none once the other end has closed.
    /// - Throws: ``ControlError``; `timeout`, `connectionLost`.
    func receive(seconds: Int?) throws(ControlError) -> ArraySlice<UInt8> {
        while true {
            try wait(Int16(POLLIN), seconds: seconds)
            var count = 0
            // SAFETY: the buffer has the capacity that is given, and `count` bytes of it are written.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
                unsafe count = recv(descriptor, buffer.baseAddress, buffer.count, Self.flags)
                initialized = max(0, count)
            }
            if count >= 0 { return bytes[...] }
            if errno != EINTR, errno != EAGAIN { throw ControlError(.connectionLost) }
        }
    }

    /// Ends the connection; a receive that waits returns.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func wait(_ events: Int16, seconds: Int?) throws(ControlError) {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            let result = unsafe poll(&entry, 1, seconds.map { Int32(clamping: $0 * 1000) } ?? -1)
            if result > 0 { return }
            if result == 0 { throw ControlError(.timeout) }
            if errno != EINTR { throw ControlError(.connectionLost) }
        }
    }

    private static func failure(_ number: Int32, _ path: String) -> ControlError {
        switch number {
        case ENOENT, ECONNREFUSED: ControlError(.noManager, cause: "No manager listens on \(path).")
        case EACCES, EPERM: ControlError(.noAccess, cause: "You may not connect to \(path).")
        default:
            // SAFETY: `strerror` returns a string of its own that lives until the next call on this thread.
            ControlError(.connectionLost, cause: "\(path): \(unsafe String(cString: strerror(number))).")
        }
    }
}
