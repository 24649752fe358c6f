private import CTun
private import Glibc

/// The system calls of the channel: EINTR is retried, errno comes back as a thrown value.
enum ChannelSystem {
    /// What one `recvmsg` brought.
    struct Received {
        var bytes: [UInt8]
        var descriptors: [Descriptor]
        var truncated: Bool
    }

    /// Makes a connected pair of sequenced-packet sockets.
    static func socketPair() throws(ChannelError) -> (Descriptor, Descriptor) {
        var pair: [Int32] = [-1, -1]
        try check("socketpair", unsafe Int(ctun_socketpair(&pair)))
        return (Descriptor(adopting: pair[0]), Descriptor(adopting: pair[1]))
    }

    /// Sends one frame without waiting.
    ///
    /// - Returns: False while the receiver is too slow.
    static func send(
        _ socket: Int32, header: [UInt8], body: [UInt8], descriptors: [Int32]
    ) throws(ChannelError) -> Bool {
        let result = unsafe ctun_send(
            socket, header, header.count, body, body.count, descriptors, descriptors.count)
        switch -Int32(truncatingIfNeeded: result) {
        case EAGAIN: return false
        case EPIPE, ECONNRESET, ENOTCONN: throw .closed
        case let number where number > 0: throw .system(call: "sendmsg", errno: number)
        default: return true
        }
    }

    /// Receives one frame without waiting; nil when there is none, empty bytes when the sender is gone.
    static func receive(_ socket: Int32, capacity: Int) throws(ChannelError) -> Received? {
        var ancillary = ctun_ancillary()
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            if let base = buffer.baseAddress { unsafe result = ctun_receive(socket, base, capacity, &ancillary) }
            count = max(0, result)
        }
        let count = Int(ancillary.count)
        let numbers = unsafe withUnsafeBytes(of: ancillary.descriptors) { raw in
            (0..<count).map { unsafe raw.load(fromByteOffset: $0 * MemoryLayout<Int32>.size, as: Int32.self) }
        }
        let descriptors = numbers.map { Descriptor(adopting: $0) }
        switch -Int32(truncatingIfNeeded: result) {
        case EAGAIN: return nil
        case ECONNRESET: return Received(bytes: [], descriptors: [], truncated: false)
        case let number where number > 0: throw .system(call: "recvmsg", errno: number)
        default: return Received(bytes: bytes, descriptors: descriptors, truncated: ancillary.truncated != 0)
        }
    }

    /// Puts bytes into sealed anonymous memory.
    static func sealedMemory(_ bytes: [UInt8]) throws(ChannelError) -> Descriptor {
        Descriptor(adopting: Int32(try check("memfd_create", unsafe Int(ctun_sealed_memory(bytes, bytes.count)))))
    }

    /// The size of sealed memory.
    static func sealedMemorySize(_ descriptor: Descriptor) throws(ChannelError) -> Int {
        let size = ctun_sealed_memory_size(descriptor.number)
        guard size >= 0 else { throw .unsealedBody }
        return size
    }

    /// Reads sealed memory of exactly `length` bytes.
    static func readSealedMemory(_ descriptor: Descriptor, length: Int) throws(ChannelError) -> [UInt8] {
        let size = try sealedMemorySize(descriptor)
        guard size == length else { throw .wrongLength(declared: length, actual: size) }
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            while count < length, let base = buffer.baseAddress {
                let got = unsafe pread(descriptor.number, base + count, length - count, count)
                if got > 0 {
                    count += got
                } else if got == 0 || errno != EINTR {
                    failure = got == 0 ? EIO : errno
                    return
                }
            }
        }
        if failure != 0 { throw .system(call: "pread", errno: failure) }
        return bytes
    }

    /// Waits until the socket is ready for `events`, for at most `milliseconds` (-1 without limit).
    ///
    /// - Returns: Whether it is ready (or broken, which the next call on it tells).
    static func wait(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(ChannelError) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            let result = unsafe poll(&entry, 1, milliseconds)
            if result >= 0 { return result > 0 }
            let number = errno
            if number != EINTR { throw .system(call: "poll", errno: number) }
        }
    }

    /// Waits until a frame can be received.
    static func waitToRead(_ descriptor: Int32, milliseconds: Int32 = -1) throws(ChannelError) -> Bool {
        try wait(descriptor, events: Int16(POLLIN), milliseconds: milliseconds)
    }

    /// Waits until a frame can be sent.
    static func waitToWrite(_ descriptor: Int32) throws(ChannelError) {
        _ = try wait(descriptor, events: Int16(POLLOUT), milliseconds: -1)
    }

    /// Ends a connection for both ends.
    static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes a descriptor; Linux frees it also when `close` reports EINTR.
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// Duplicates a descriptor with close-on-exec.
    static func duplicate(_ descriptor: Int32) throws(ChannelError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        if copy < 0 { throw .system(call: "fcntl(F_DUPFD_CLOEXEC)", errno: errno) }
        return copy
    }

    /// Sets close-on-exec on a descriptor that was inherited.
    static func setCloseOnExec(_ descriptor: Int32) throws(ChannelError) {
        if fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 { throw .system(call: "fcntl(F_SETFD)", errno: errno) }
    }

    /// Writes what one call takes.
    static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
        unsafe Glibc.write(descriptor, bytes, bytes.count)
    }

    /// The text of an errno; glibc keeps it per thread.
    static func text(of number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int) throws(ChannelError) -> Int {
        if result < 0 { throw .system(call: call, errno: Int32(-result)) }
        return result
    }
}
