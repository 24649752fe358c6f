import CMnl

extension Route {
    /// Length of struct rtmsg.
    static let headerLength = 12

    init?(_ message: Message) {
        let header = Array(message.payload.prefix(Self.headerLength))
        guard header.count == Self.headerLength, let family = AddressFamily(rawValue: header[0]) else { return nil }
        let attributes = message.attributes(after: Self.headerLength)
        let address = attributes.address(RouteAttribute.destination, family) ?? .unspecified(family)
        guard let destination = IPPrefix(address, length: Int(header[1])) else { return nil }
        self.destination = destination
        kind = Kind(rawValue: header[7])
        protocolNumber = header[5]
        scope = header[6]
        table = attributes.integer(RouteAttribute.table, as: UInt32.self) ?? UInt32(header[4])
        metric = attributes.integer(RouteAttribute.priority, as: UInt32.self) ?? 0
        preferredSource = attributes.address(RouteAttribute.preferredSource, family)
        interface = attributes.integer(RouteAttribute.outputInterface, as: UInt32.self)
        gateway = attributes.address(RouteAttribute.gateway, family)
        if let hops = attributes[RouteAttribute.multipath] {
            // struct rtnexthop: u16 length, u8 flags, u8 hops, i32 interface, attributes.
            interface = hops.integer(UInt32.self, at: 4)
            let length = max(8, Int(hops.integer(UInt16.self, at: 0) ?? 0))
            gateway = Attributes(bytes: hops.prefix(length).dropFirst(8)).address(RouteAttribute.gateway, family)
        }
        // IPv6 shows its refusing routes on the loopback interface, which nobody asked for.
        if [.unreachable, .blackhole, .prohibit, .throw].contains(kind) { interface = nil }
    }

    /// Writes struct rtmsg and the attributes.
    func append(to builder: inout MessageBuilder) {
        Self.appendHeader(
            family: destination.family, length: destination.length, table: table, protocolNumber: protocolNumber,
            scope: scope, kind: kind.rawValue, to: &builder)
        if !destination.isDefault {
            builder.attribute(RouteAttribute.destination, bytes: destination.address.bytes)
        }
        builder.attribute(RouteAttribute.table, table)
        if metric != 0 { builder.attribute(RouteAttribute.priority, metric) }
        if let gateway { builder.attribute(RouteAttribute.gateway, bytes: gateway.bytes) }
        if let preferredSource { builder.attribute(RouteAttribute.preferredSource, bytes: preferredSource.bytes) }
        if let interface { builder.attribute(RouteAttribute.outputInterface, interface) }
    }

    /// Writes struct rtmsg: family, lengths, TOS, table, protocol, scope, type, flags.
    static func appendHeader(
        family: AddressFamily, length: Int = 0, table: UInt32 = 0, protocolNumber: UInt8 = 0, scope: UInt8 = 0,
        kind: UInt8 = 0, flags: UInt32 = 0, to builder: inout MessageBuilder
    ) {
        builder.append(family.rawValue)
        builder.append(UInt8(length))
        builder.append(UInt8(0))
        builder.append(UInt8(0))
        // One byte cannot hold every table number; RTA_TABLE can, and wins.
        builder.append(table < 256 ? UInt8(table) : UInt8(RT_TABLE_UNSPEC.rawValue))
        builder.append(protocolNumber)
        builder.append(scope)
        builder.append(kind)
        builder.append(flags)
    }
}
