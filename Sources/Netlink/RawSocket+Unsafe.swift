import CMnl
import Glibc

/// A libmnl socket, on rtnetlink unless told otherwise, closed when its owner goes away.
///
/// Failures are errno values, positive.
@safe
struct RawSocket: ~Copyable {
    /// A failed system call.
    struct Failure: Error {
        var code: Int32
    }

    // INVARIANT: made by mnl_socket_open2, closed exactly once, in deinit.
    private let handle: OpaquePointer

    /// Opens and binds a socket in the network namespace of the calling thread; `groups` is the multicast bit mask.
    init(_ bus: Int32 = NETLINK_ROUTE, groups: UInt32, isNonblocking: Bool) throws(Failure) {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | (isNonblocking ? Int32(SOCK_NONBLOCK.rawValue) : 0)
        guard let opened = unsafe mnl_socket_open2(bus, flags) else { throw Failure(code: errno) }
        guard unsafe mnl_socket_bind(opened, groups, MNL_SOCKET_AUTOPID) == 0 else {
            let code = errno
            _ = unsafe mnl_socket_close(opened)
            throw Failure(code: code)
        }
        unsafe handle = opened
    }

    deinit { _ = unsafe mnl_socket_close(handle) }

    var fileDescriptor: Int32 { unsafe mnl_socket_get_fd(handle) }

    /// Sends one datagram of messages.
    func send(_ bytes: [UInt8]) throws(Failure) {
        while true {
            // SAFETY: the buffer outlives the call, and its own count is passed.
            let sent = unsafe bytes.withUnsafeBytes { unsafe mnl_socket_sendto(handle, $0.baseAddress, $0.count) }
            if sent == bytes.count { return }
            let code = sent < 0 ? errno : EMSGSIZE
            guard code == EINTR else { throw Failure(code: code) }
        }
    }

    /// Receives one datagram into `buffer` and returns its length; libmnl answers ENOSPC for one that did not fit.
    func receive(into buffer: inout [UInt8]) throws(Failure) -> Int {
        while true {
            // SAFETY: at most `count` bytes are written into the buffer.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe mnl_socket_recvfrom(handle, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            let code = errno
            guard code == EINTR else { throw Failure(code: code) }
        }
    }

    /// Turns a NETLINK_* option on; kernels that lack it are left as they are.
    func enable(_ option: Int32) {
        var on: Int32 = 1
        _ = unsafe mnl_socket_setsockopt(handle, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Makes a blocking receive fail with EAGAIN after so many seconds.
    func setReceiveTimeout(seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        _ = unsafe setsockopt(
            fileDescriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Asks for a receive buffer of so many bytes, past the system's limit where we may.
    func setReceiveBuffer(bytes: Int32) {
        var size = bytes
        let length = socklen_t(MemoryLayout<Int32>.size)
        if unsafe setsockopt(fileDescriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, length) != 0 {
            _ = unsafe setsockopt(fileDescriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        }
    }
}

/// The C library's sentence for an errno.
func errnoText(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    // SAFETY: the XSI form writes at most `count` bytes, and a terminating NUL.
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
