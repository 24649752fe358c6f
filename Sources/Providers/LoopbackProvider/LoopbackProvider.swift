public import ProviderKit

/// The one symbol that the host looks for.
@c(providerhost_create_LoopbackProvider)
public func createProvider(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe ProviderModule.create(context) { LoopbackProvider(context: $0) }
}

/// A tunnel without a far end: every other address of its subnets answers pings, returns UDP datagrams, and leads TCP
/// connections back to the same port of the interface's own address.
///
/// Values, from the start options or else from the provider configuration: `IPv4Address` and `IPv4SubnetMask`
/// (10.99.0.1, 255.255.255.0), `IPv6Address` and `IPv6PrefixLength` (fd99::1, 64), `MTU` (1500).
public actor LoopbackProvider: AsyncPacketTunnelProvider {
    private let context: any ProviderContext
    private var answering: Task<Void, Never>?

    /// Makes a provider; nothing happens before the start.
    public init(context: any ProviderContext) {
        self.context = context
    }

    public func startTunnel(options: [String: PropertyListValue]?) async throws {
        let values = context.protocolConfiguration.providerConfiguration.merging(options ?? [:]) { $1 }
        try await context.setTunnelNetworkSettings(try Self.settings(values))
        let flow = context.packetFlow
        answering = Task.detached { await Self.answerAll(of: flow) }
    }

    public func stopTunnel(with reason: ProviderStopReason) async {
        answering?.cancel()
        await answering?.value
    }

    /// Answers until the flow is closed or the task is cancelled: both end the loop with an error.
    private static func answerAll(of flow: any PacketFlow) async {
        while var batch = try? await flow.readPackets() {
            for index in 0..<batch.count {
                var packet = batch.mutablePacket(at: index)
                if !answer(&packet) { batch.setLength(0, at: index) }
            }
            guard (try? flow.writePackets(batch)) != nil else { return }
        }
    }

    /// The addresses of the interface; their own subnets are all that is routed into the tunnel.
    static func settings(_ values: [String: PropertyListValue]) throws -> PacketTunnelNetworkSettings {
        func value<Value>(_ key: String, _ read: (PropertyListValue) -> Value?, _ standard: Value) throws -> Value {
            guard let given = values[key] else { return standard }
            guard let value = read(given) else {
                throw VPNConnectionError(
                    .configurationFailed, cause: "The value of \(key) is not of type \(Value.self).")
            }
            return value
        }
        var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "127.0.0.1")
        settings.ipv4Settings = IPv4Settings(
            addresses: [try value("IPv4Address", \.stringValue, "10.99.0.1")],
            subnetMasks: [try value("IPv4SubnetMask", \.stringValue, "255.255.255.0")])
        settings.ipv6Settings = IPv6Settings(
            addresses: [try value("IPv6Address", \.stringValue, "fd99::1")],
            networkPrefixLengths: [try value("IPv6PrefixLength", \.integerValue, 64)])
        settings.mtu = try value("MTU", \.integerValue, 1500)
        return settings
    }

    /// Turns a packet into its answer in place.
    ///
    /// - Returns: False for what gets no answer: fragments, extension headers, multicast, other protocols, wrong lengths.
    static func answer(_ packet: inout MutableRawSpan) -> Bool {
        guard packet.byteCount >= 20 else { return false }
        switch packet.bytes.byte(at: 0) >> 4 {
        case 4:  // RFC 791 section 3.1
            let header = Int(packet.bytes.byte(at: 0) & 15) * 4
            let isFragment = packet.bytes.uint16(at: 6) & 0x3fff != 0
            guard header >= 20, packet.bytes.uint16(at: 2) == packet.byteCount, !isFragment,
                packet.bytes.byte(at: 16) < 224,
                reflect(&packet, protocol: packet.bytes.byte(at: 9), at: header, echo: (1, request: 8, reply: 0))
            else { return false }
            packet.swapFields(12, 16, count: 4)
        case 6:  // RFC 8200 section 3
            guard packet.byteCount >= 40, Int(packet.bytes.uint16(at: 4)) + 40 == packet.byteCount,
                packet.bytes.byte(at: 24) != 0xff,
                reflect(&packet, protocol: packet.bytes.byte(at: 6), at: 40, echo: (58, request: 128, reply: 129))
            else { return false }
            packet.swapFields(8, 24, count: 16)
        default: return false
        }
        return true
    }

    /// Turns the message inside the packet around.
    ///
    /// Swapped addresses and ports leave every checksum valid.
    private static func reflect(
        _ packet: inout MutableRawSpan, protocol number: UInt8, at start: Int,
        echo: (_: UInt8, request: UInt8, reply: UInt8)
    ) -> Bool {
        guard packet.byteCount >= start + 8 else { return false }
        if number == 17 {  // UDP, RFC 768
            guard Int(packet.bytes.uint16(at: start + 4)) == packet.byteCount - start else { return false }
            packet.swapFields(start, start + 2, count: 2)
            return true
        }
        // TCP, RFC 9293: with the addresses swapped and the ports as they are, the segment is one to this machine.
        if number == 6 { return packet.byteCount >= start + 20 }
        // ICMP and ICMPv6 echo: RFC 792, RFC 4443 section 4. The checksum is updated as RFC 1624 section 3 says.
        guard number == echo.0, packet.bytes.uint16(at: start) == UInt16(echo.request) << 8 else { return false }
        packet.setByte(echo.reply, at: start)
        var sum = UInt32(~packet.bytes.uint16(at: start + 2)) + UInt32(~(UInt16(echo.request) << 8))
        sum += UInt32(echo.reply) << 8
        sum = (sum & 0xffff) + sum >> 16
        sum = (sum & 0xffff) + sum >> 16
        packet.setUInt16(~UInt16(truncatingIfNeeded: sum), at: start + 2)
        return true
    }
}
