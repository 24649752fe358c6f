import CMnl

/// A question to the kernel; a dump answers with many messages, the others with one.
enum Query {
    case links
    case link(index: UInt32)
    case linkNamed(String)
    case addresses(AddressFamily)
    case routes(AddressFamily, table: UInt32?)
    case rules(AddressFamily)
    case lookup(IPAddress, mark: UInt32?, source: IPAddress?, interface: UInt32?)

    var isDump: Bool {
        switch self {
        case .links, .addresses, .routes, .rules: true
        case .link, .linkNamed, .lookup: false
        }
    }

    var family: AddressFamily? {
        switch self {
        case .links, .link, .linkNamed: nil
        case .addresses(let family), .routes(let family, _), .rules(let family): family
        case .lookup(let address, _, _, _): address.family
        }
    }

    func append(sequence: UInt32, to builder: inout MessageBuilder) {
        let type =
            switch self {
            case .links, .link, .linkNamed: MessageType.getLink
            case .addresses: MessageType.getAddress
            case .routes, .lookup: MessageType.getRoute
            case .rules: MessageType.getRule
            }
        let flags = MessageFlags.request | (isDump ? MessageFlags.dump : 0)
        builder.message(type: type, flags: flags, sequence: sequence) { appendBody(to: &$0) }
    }

    private func appendBody(to builder: inout MessageBuilder) {
        switch self {
        case .links: Link.appendHeader(index: 0, to: &builder)
        case .link(let index): Link.appendHeader(index: index, to: &builder)
        case .linkNamed(let name):
            Link.appendHeader(index: 0, to: &builder)
            builder.attribute(LinkAttribute.name, string: name)
        case .addresses(let family):
            builder.append(family.rawValue)
            for _ in 1..<InterfaceAddress.headerLength { builder.append(UInt8(0)) }
        case .routes(let family, let table):
            Route.appendHeader(family: family, table: table ?? 0, to: &builder)
            if let table { builder.attribute(RouteAttribute.table, table) }
        case .rules(let family):
            builder.append(family.rawValue)
            for _ in 1..<Rule.headerLength { builder.append(UInt8(0)) }
        case .lookup(let address, let mark, let source, let interface):
            // IPv4 names the table that decided only when asked; IPv6 always does, and refuses the flag.
            let flags = address.family == .ipv4 ? UInt32(RTM_F_LOOKUP_TABLE) : 0
            Route.appendHeader(
                family: address.family, length: address.family.bitWidth, flags: flags, to: &builder)
            builder.attribute(RouteAttribute.destination, bytes: address.bytes)
            if let mark { builder.attribute(RouteAttribute.mark, mark) }
            if let source { builder.attribute(UInt16(RTA_SRC.rawValue), bytes: source.bytes) }
            if let interface { builder.attribute(RouteAttribute.outputInterface, interface) }
        }
    }
}

extension Query: CustomStringConvertible {
    var description: String {
        switch self {
        case .links: "list interfaces"
        case .link(let index): "find interface \(index)"
        case .linkNamed(let name): "find interface \(name.debugDescription)"
        case .addresses(let family): "list \(family) addresses"
        case .routes(let family, let table): "list \(family) routes" + (table.map { " of table \($0)" } ?? "")
        case .rules(let family): "list \(family) rules"
        case .lookup(let address, let mark, _, _):
            "look up the route to \(address)" + (mark.map { " with mark 0x\(String($0, radix: 16))" } ?? "")
        }
    }
}
