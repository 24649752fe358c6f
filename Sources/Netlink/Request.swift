import CMnl
import Glibc

/// One change, as a value: it can be encoded, described, undone, and interpreted by a test's model of the kernel.
public enum Request: Hashable, Sendable {
    /// One property of a link.
    public enum LinkSetting: Hashable, Sendable {
        /// The largest packet in bytes.
        case mtu(Int)
        /// Administratively up or down.
        case up(Bool)
        /// The length of the transmit queue in packets.
        case transmitQueueLength(Int)
        /// How IPv6 link-local addresses are made.
        case addressGeneration(Link.AddressGeneration)
        /// Free text of at most 255 bytes.
        case alias(String)
    }

    /// Changes a property of the interface with this index.
    case setLink(UInt32, LinkSetting)
    /// Removes the interface with this index.
    case deleteLink(UInt32)
    /// Adds an address, or updates the one that is there.
    case addAddress(InterfaceAddress)
    case deleteAddress(InterfaceAddress)
    /// Adds a route; fails with EEXIST if the table has one with this destination and metric.
    case addRoute(Route)
    /// Adds a route, or replaces the one with this destination and metric.
    case replaceRoute(Route)
    case deleteRoute(Route)
    /// Adds a rule; fails with EEXIST if an equal one is there.
    case addRule(Rule)
    case deleteRule(Rule)
}

extension Request {
    /// The family that the change is about; nil for a link.
    public var family: AddressFamily? {
        switch self {
        case .setLink(_, .addressGeneration): .ipv6
        case .setLink, .deleteLink: nil
        case .addAddress(let address), .deleteAddress(let address): address.address.family
        case .addRoute(let route), .replaceRoute(let route), .deleteRoute(let route): route.destination.family
        case .addRule(let rule), .deleteRule(let rule): rule.family
        }
    }

    /// Why the change cannot be put into a message at all; nil if it can.
    var defect: String? {
        switch self {
        case .setLink(_, .alias(let text)) where text.utf8.count > 255 || text.utf8.contains(0):
            "an alias has at most 255 bytes and no NUL"
        case .setLink(_, .mtu(let value)) where UInt32(exactly: value) == nil,
            .setLink(_, .transmitQueueLength(let value)) where UInt32(exactly: value) == nil:
            "\(value) is out of range"
        case .addAddress(let address), .deleteAddress(let address):
            (0...address.address.family.bitWidth).contains(address.prefixLength)
                ? nil : "prefix length \(address.prefixLength) is out of range"
        default: nil
        }
    }

    /// Writes the message; `defect` must be nil.
    func append(sequence: UInt32, to builder: inout MessageBuilder) {
        let base = MessageFlags.request | MessageFlags.acknowledge
        let (type, extra): (UInt16, UInt16) =
            switch self {
            case .setLink: (MessageType.setLink, 0)
            case .deleteLink: (MessageType.deleteLink, 0)
            case .addAddress: (MessageType.newAddress, MessageFlags.create | MessageFlags.replace)
            case .deleteAddress: (MessageType.deleteAddress, 0)
            case .addRoute: (MessageType.newRoute, MessageFlags.create | MessageFlags.exclusive)
            case .replaceRoute: (MessageType.newRoute, MessageFlags.create | MessageFlags.replace)
            case .deleteRoute: (MessageType.deleteRoute, 0)
            case .addRule: (MessageType.newRule, MessageFlags.create | MessageFlags.exclusive)
            case .deleteRule: (MessageType.deleteRule, 0)
            }
        builder.message(type: type, flags: base | extra, sequence: sequence) { builder in
            switch self {
            case .setLink(let index, let setting): setting.append(index: index, to: &builder)
            case .deleteLink(let index): Link.appendHeader(index: index, to: &builder)
            case .addAddress(let address), .deleteAddress(let address): address.append(to: &builder)
            case .addRoute(let route), .replaceRoute(let route), .deleteRoute(let route): route.append(to: &builder)
            case .addRule(let rule), .deleteRule(let rule): rule.append(to: &builder)
            }
        }
    }
}

extension Request.LinkSetting {
    func append(index: UInt32, to builder: inout MessageBuilder) {
        guard case .up(let isUp) = self else {
            Link.appendHeader(index: index, to: &builder)
            return appendAttribute(to: &builder)
        }
        let flag = UInt32(IFF_UP)
        Link.appendHeader(index: index, flags: isUp ? flag : 0, change: flag, to: &builder)
    }

    private func appendAttribute(to builder: inout MessageBuilder) {
        switch self {
        case .up: break
        case .mtu(let bytes): builder.attribute(LinkAttribute.mtu, UInt32(bytes))
        case .transmitQueueLength(let packets): builder.attribute(LinkAttribute.transmitQueueLength, UInt32(packets))
        case .alias(let text): builder.attribute(LinkAttribute.alias, bytes: Array(text.utf8))
        case .addressGeneration(let mode):
            builder.nested(LinkAttribute.familySpecific) { builder in
                builder.nested(UInt16(AddressFamily.ipv6.rawValue)) { builder in
                    builder.attribute(LinkAttribute.ipv6AddressGeneration, mode.rawValue)
                }
            }
        }
    }
}

extension Request: CustomStringConvertible {
    /// The change as a phrase, for errors and logs.
    public var description: String {
        switch self {
        case .setLink(let index, let setting): "set \(setting) of interface \(index)"
        case .deleteLink(let index): "delete interface \(index)"
        case .addAddress(let address): "add address \(address)"
        case .deleteAddress(let address): "delete address \(address)"
        case .addRoute(let route): "add route \(route)"
        case .replaceRoute(let route): "replace route \(route)"
        case .deleteRoute(let route): "delete route \(route)"
        case .addRule(let rule): "add rule \(rule)"
        case .deleteRule(let rule): "delete rule \(rule)"
        }
    }
}

extension Request.LinkSetting: CustomStringConvertible {
    /// The property and its value: `mtu 1420`.
    public var description: String {
        switch self {
        case .mtu(let bytes): "mtu \(bytes)"
        case .up(let isUp): isUp ? "state up" : "state down"
        case .transmitQueueLength(let packets): "transmit queue length \(packets)"
        case .addressGeneration(let mode): "IPv6 address generation \(mode)"
        case .alias(let text): "alias \(text.debugDescription)"
        }
    }
}
