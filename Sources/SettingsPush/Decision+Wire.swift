import WireGuard

/// The subject of a decision as two words: what it is, and which.
extension Decision.Subject {
    /// The word for what there is only one of.
    private static let only = "-"

    var wireText: String {
        switch self {
        case .address(let address): "address \(address)"
        case .route(let prefix): "route \(prefix)"
        case .exclude(let prefix): "exclude \(prefix)"
        case .server(let server):
            "server \(server.address),\(server.port),\(server.transport.rawValue),\(server.name?.text ?? Self.only)"
        case .searchDomain(let name): "searchDomain \(name)"
        case .matchDomain(let name): "matchDomain \(name)"
        case .allNames: "allNames \(Self.only)"
        case .mtu(let mtu): "mtu \(mtu)"
        case .notice: "notice \(Self.only)"
        case .section(let type): "section \(type)"
        }
    }

    init?(kind: String, _ text: String) {
        let made: Self? =
            switch kind {
            case "address": AssignedAddress(text).map(Self.address)
            case "route": IPPrefix(text).map(Self.route)
            case "exclude": IPPrefix(text).map(Self.exclude)
            case "server": DNSServer(wireText: text, noName: Self.only).map(Self.server)
            case "searchDomain": DomainName(text).map(Self.searchDomain)
            case "matchDomain": DomainName(text).map(Self.matchDomain)
            case "allNames": text == Self.only ? .allNames : nil
            case "mtu": UInt16(text).map { .mtu(Int($0)) }
            case "notice": text == Self.only ? .notice : nil
            case "section": UInt16(text).map(Self.section)
            default: nil
            }
        guard let made else { return nil }
        self = made
    }
}

extension AssignedAddress {
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(parts[0]), let length = UInt8(parts[1]) else { return nil }
        self.init(address, prefixLength: Int(length))
    }
}

extension DNSServer {
    fileprivate init?(wireText text: String, noName: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, let address = IPAddress(parts[0]), let port = UInt16(parts[1]),
            let transport = UInt8(parts[2]).flatMap(Transport.init)
        else { return nil }
        let name = DomainName(String(parts[3]))
        guard name != nil || parts[3] == noName else { return nil }
        self.init(address: address, port: port, transport: transport, name: name)
    }
}
