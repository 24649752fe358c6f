internal import CTun
import Synchronization

private let socketsMade = Atomic<UInt64>(0)

/// A wildcard UDP socket of one family, shared by the threads that send and receive on it.
public final class UDPSocket: Sendable {
    /// How sockets are made.
    public struct Options: Sendable {
        /// The local port; 0 takes a free one.
        public var port: UInt16 = 0
        /// SO_MARK, 0 for none; needs CAP_NET_ADMIN.
        public var mark: UInt32 = 0
        /// Bytes of the kernel's buffers, 0 for the system's default.
        ///
        /// Beyond the system's limit needs CAP_NET_ADMIN.
        public var receiveBuffer: Int32 = 8 << 20
        public var sendBuffer: Int32 = 8 << 20
        /// UDP_GRO.
        public var receiveOffload: Bool = true

        public init() {}
    }

    public let descriptor: Int32
    /// 4 or 6.
    public let family: UInt8
    /// The bound port.
    public let port: UInt16
    /// Whether the kernel joins incoming datagrams of a flow into trains.
    public let receiveOffload: Bool
    /// Tells sockets apart when descriptors are used again.
    let identity: UInt64

    /// Opens and binds a socket of `family` 4 or 6.
    public convenience init(family: UInt8, options: Options) throws(PathError) {
        let descriptor = System.openUDP(options.raw(family))
        guard descriptor >= 0 else { throw UDPSocket.refusal(family, options, descriptor) }
        try self.init(adopting: descriptor, options: options)
    }

    /// Takes over a bound UDP socket of another process and sets what receiving needs.
    ///
    /// The descriptor is closed with this object, also when this throws. The port of the options is not used.
    public init(adopting descriptor: Int32, options: Options) throws(PathError) {
        let family = ctun_udp_family(descriptor)
        let configured = System.configureUDP(descriptor, options.raw(0))
        let port = ctun_udp_port(descriptor)
        guard family > 0, configured.result == 0, port >= 0 else {
            ctun_close(descriptor)
            throw PathError(
                "descriptor \(descriptor) cannot serve as a UDP socket", code: min(family, configured.result, port),
                advice: "pass a bound IPv4 or IPv6 datagram socket")
        }
        self.descriptor = descriptor
        self.family = UInt8(family)
        self.port = UInt16(port)
        receiveOffload = configured.offload
        identity = socketsMade.add(1, ordering: .relaxed).newValue
    }

    deinit { ctun_close(descriptor) }

    /// An IPv4 and an IPv6 socket on the same port; nil for a family that the system does not have.
    ///
    /// With port 0 a port that is free in both families is looked for.
    public static func pair(options: Options) throws(PathError) -> (v4: UDPSocket?, v6: UDPSocket?) {
        for attempt in 1... {
            let v4 = try available(family: 4, options: options)
            var second = options
            if let v4 { second.port = v4.port }
            do {
                let v6 = try available(family: 6, options: second)
                guard v4 != nil || v6 != nil else { break }
                return (v4, v6)
            } catch {
                // The free IPv4 port is taken in IPv6: another one may not be.
                guard options.port == 0, error.errno == 98, attempt < 16 else { throw error }
            }
        }
        throw PathError("the system has neither IPv4 nor IPv6", advice: "enable one of them")
    }

    /// Whether the kernel cuts outgoing trains into datagrams.
    public var canSegment: Bool { ctun_udp_can_segment(descriptor) }

    /// SO_MARK as it is now, 0 for none.
    public var mark: UInt32 { ctun_udp_mark(descriptor) }

    /// Changes SO_MARK.
    public func setMark(_ mark: UInt32) throws(PathError) {
        let result = ctun_udp_set_mark(descriptor, mark)
        guard result == 0 else {
            throw PathError("cannot set the mark \(mark)", code: result, advice: "CAP_NET_ADMIN is needed")
        }
    }

    private static func available(family: UInt8, options: Options) throws(PathError) -> UDPSocket? {
        do {
            return try UDPSocket(family: family, options: options)
        } catch {
            // EAFNOSUPPORT; EADDRNOTAVAIL is what disable_ipv6 gives.
            if error.errno == 97 || (error.errno == 99 && family == 6) { return nil }
            throw error
        }
    }

    private static func refusal(_ family: UInt8, _ options: Options, _ code: Int32) -> PathError {
        switch -code {
        case 98:
            PathError(
                "UDP port \(options.port) is in use (IPv\(family))", code: code,
                advice: "stop its owner or choose another port")
        case 1 where options.mark != 0:
            PathError("cannot set the mark \(options.mark)", code: code, advice: "CAP_NET_ADMIN is needed")
        default:
            PathError("cannot open an IPv\(family) UDP socket", code: code, advice: "see udp(7)")
        }
    }
}

extension UDPSocket.Options {
    func raw(_ family: UInt8) -> ctun_udp_options {
        ctun_udp_options(
            family: family, receive_offload: receiveOffload, port: port, mark: mark, receive_buffer: receiveBuffer,
            send_buffer: sendBuffer)
    }
}
