internal import CTun

/// The system calls of the packet path, each bounded by the view it works on; results are counts or negative errnos.
enum System {
    @inline(always)
    static func read(_ descriptor: Int32, _ view: ByteView, _ offset: Int, _ length: Int) -> Int {
        unsafe ctun_read(descriptor, view.pointer(offset, length), length)
    }

    @inline(always)
    static func write(_ descriptor: Int32, _ view: ByteView, _ offset: Int, _ length: Int) -> Int {
        unsafe ctun_write(descriptor, view.pointer(offset, length), length)
    }

    /// One sendmsg; `segment` 0 sends a single datagram.
    @inline(always)
    static func send(
        _ descriptor: Int32, _ view: ByteView, _ offset: Int, _ length: Int, segment: Int,
        to destination: PeerAddress, from source: LocalAddress?, tos: UInt8
    ) -> Int {
        var endpoint = destination.raw
        var local = source?.raw ?? ctun_source()
        return unsafe ctun_udp_send(
            descriptor, view.pointer(offset, length), length, UInt16(truncatingIfNeeded: segment), &endpoint, &local,
            tos)
    }

    /// The interface by which a datagram leaves, or a negative errno.
    static func routeInterface(to destination: PeerAddress, from source: LocalAddress, mark: UInt32) -> Int32 {
        var endpoint = destination.raw
        var local = source.raw
        return unsafe ctun_route_interface(&endpoint, &local, mark)
    }

    /// The processors that this process may run on.
    static var processorCount: Int { Int(ctun_processor_count()) }

    static func text(_ error: Int32) -> String { unsafe String(cString: ctun_error_text(error)) }

    /// Waits on the entries; the count of ready ones, 0 on timeout or signal, or a negative errno.
    static func poll(_ entries: inout InlineArray<8, ctun_poll_entry>, _ count: Int, timeout: Int64) -> Int32 {
        var span = entries.mutableSpan
        return unsafe span.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe ctun_poll(base, count, timeout)
        }
    }

    /// Sleeps until the descriptor is writable or the time is over.
    static func waitWritable(_ descriptor: Int32, nanoseconds: Int64) {
        var entry = ctun_poll_entry(descriptor: descriptor, interest: UInt16(CTUN_WRITABLE), ready: 0)
        _ = unsafe ctun_poll(&entry, 1, nanoseconds)
    }

    /// Sleeps for a while that is too short to be worth a timer.
    static func pause(nanoseconds: Int64) {
        var entry = ctun_poll_entry(descriptor: -1, interest: 0, ready: 0)
        _ = unsafe ctun_poll(&entry, 1, nanoseconds)
    }

    /// An interface name in the fixed form of the TUN calls, or nil when it does not fit.
    static func withName<R>(_ name: String, _ body: (UnsafeMutablePointer<CChar>) -> R) -> (R, String)? {
        guard name.utf8.count < Int(CTUN_NAME_SIZE) else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(CTUN_NAME_SIZE))
        for (index, byte) in name.utf8.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        let result = unsafe buffer.withUnsafeMutableBufferPointer { pointer -> R? in
            guard let base = pointer.baseAddress else { return nil }
            return unsafe body(base)
        }
        guard let result else { return nil }
        let end = buffer.firstIndex(of: 0) ?? buffer.endIndex
        return (result, String(decoding: buffer[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// A TUN attached to `name` (empty or with %d: the kernel chooses) and the name it got, or a negative errno.
    static func openTUN(_ name: String, exclusive: Bool) -> (descriptor: Int32, name: String) {
        unsafe withName(name) { unsafe ctun_tun_open($0, exclusive) } ?? (-36, name)
    }

    static func adoptTUN(_ descriptor: Int32) -> (result: Int32, name: String) {
        unsafe withName("") { unsafe ctun_tun_adopt(descriptor, $0) } ?? (-36, "")
    }

    static func nameTUN(_ descriptor: Int32) -> (result: Int32, name: String) {
        unsafe withName("") { unsafe ctun_tun_name(descriptor, $0) } ?? (-36, "")
    }

    static func interfaceMTU(_ name: String) -> Int32 { unsafe ctun_interface_mtu(name) }

    static func openUDP(_ options: ctun_udp_options) -> Int32 {
        var options = options
        return unsafe ctun_udp_open(&options)
    }

    static func configureUDP(_ descriptor: Int32, _ options: ctun_udp_options) -> (result: Int32, offload: Bool) {
        var options = options
        var offload = false
        let result = unsafe ctun_udp_configure(descriptor, &options, &offload)
        return (result, offload)
    }
}

/// The headers of one recvmmsg and the slots that it fills.
@safe
struct UDPBatch: ~Copyable {
    static let size: Int = Int(CTUN_UDP_BATCH)
    private let batch: OpaquePointer

    init() throws(PathError) {
        guard let made = unsafe ctun_udp_batch_create() else {
            throw PathError("no memory for a receive batch", advice: "raise the memory limit")
        }
        unsafe batch = made
    }

    deinit { unsafe ctun_udp_batch_destroy(batch) }

    /// Receives message `index` into these bytes from now on; they must outlive the batch's use.
    func use(_ view: ByteView, at index: Int) {
        unsafe ctun_udp_batch_buffer(batch, index, view.pointer(0, view.count), view.count)
    }

    func receive(_ descriptor: Int32, _ count: Int) -> Int32 { unsafe ctun_udp_receive(descriptor, batch, count) }

    func message(_ index: Int) -> ctun_udp_message { unsafe ctun_udp_batch_message(batch, index) }
}

extension PeerAddress {
    var raw: ctun_endpoint {
        var raw = ctun_endpoint()
        raw.family = address.family
        raw.port = port
        raw.scope = scope
        unsafe withUnsafeMutableBytes(of: &raw.address) { unsafe address.store(into: $0) }
        return raw
    }

    init?(_ raw: ctun_endpoint) {
        guard let address = unsafe withUnsafeBytes(of: raw.address, { unsafe IPAddress(family: raw.family, $0) })
        else { return nil }
        self.init(address: address, port: raw.port, scope: raw.scope)
    }
}

extension LocalAddress {
    var raw: ctun_source {
        var raw = ctun_source()
        raw.family = address.family
        raw.interface = interface
        unsafe withUnsafeMutableBytes(of: &raw.address) { unsafe address.store(into: $0) }
        return raw
    }

    init?(_ raw: ctun_source) {
        guard let address = unsafe withUnsafeBytes(of: raw.address, { unsafe IPAddress(family: raw.family, $0) })
        else { return nil }
        self.init(address: address, interface: raw.interface)
    }
}

extension IPAddress {
    fileprivate func store(into bytes: UnsafeMutableRawBufferPointer) {
        switch self {
        case .v4(let value): unsafe bytes.storeBytes(of: value.bigEndian, as: UInt32.self)
        case .v6(let value):
            unsafe bytes.storeBytes(of: UInt64(truncatingIfNeeded: value >> 64).bigEndian, as: UInt64.self)
            unsafe bytes.storeBytes(
                of: UInt64(truncatingIfNeeded: value).bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    fileprivate init?(family: UInt8, _ bytes: UnsafeRawBufferPointer) {
        switch family {
        case 4: self = .v4(UInt32(bigEndian: unsafe bytes.loadUnaligned(as: UInt32.self)))
        case 6:
            let high = UInt64(bigEndian: unsafe bytes.loadUnaligned(as: UInt64.self))
            let low = UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            self = .v6(UInt128(high) << 64 | UInt128(low))
        default: return nil
        }
    }
}
