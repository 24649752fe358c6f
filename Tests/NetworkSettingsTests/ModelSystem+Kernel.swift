import Glibc
import Netlink

extension ModelSystem {
    /// What the kernel does with a request, with what it does along with it; returns 0 or the errno.
    static func apply(_ request: Request, to contents: inout Contents) -> Int32 {
        switch request {
        case .setLink(let index, let setting): return set(index, setting, &contents)
        case .deleteLink(let index):
            contents.addresses = contents.addresses.filter { $0.interface != index }
            contents.routes = contents.routes.filter { $0.interface != index }
            return contents.links.removeValue(forKey: index) == nil ? ENODEV : 0
        case .addAddress(let address):
            guard let link = contents.links[address.interface] else { return ENODEV }
            if address.address.family == .ipv6, link.mtu < 1280 || link.addressGeneration == nil { return EACCES }
            let isThere = contents.addresses.contains {
                address.address.family == .ipv6 && $0.interface == address.interface && $0.address == address.address
            }
            if !isThere { contents.addresses.insert(address) }
            return 0
        case .deleteAddress(let address): return delete(address, &contents)
        case .addRoute(let route), .replaceRoute(let route):
            if let index = route.interface {
                guard let link = contents.links[index] else { return ENODEV }
                guard link.isUp else { return ENETDOWN }
                if route.destination.family == .ipv6, link.mtu < 1280 || link.addressGeneration == nil { return EACCES }
            }
            if let present = contents.routes.first(where: { $0.occupies(route) }) {
                if case .addRoute = request { return EEXIST }
                contents.routes.remove(present)
            }
            contents.routes.insert(route)
            return 0
        case .deleteRoute(let route): return contents.routes.remove(route) == nil ? ESRCH : 0
        case .addRule(let rule): return contents.rules.insert(rule).inserted ? 0 : EEXIST
        case .deleteRule(let rule): return contents.rules.remove(rule) == nil ? ENOENT : 0
        }
    }

    private static func set(_ index: UInt32, _ setting: Request.LinkSetting, _ contents: inout Contents) -> Int32 {
        guard var link = contents.links[index] else { return ENODEV }
        switch setting {
        case .mtu(let bytes):
            link.mtu = bytes
            if bytes < 1280 {
                contents.addresses = contents.addresses.filter { $0.interface != index || $0.address.family == .ipv4 }
                dropRoutes(.ipv6, index, &contents)
            }
        case .up(let isUp):
            link.flags = isUp ? 1 : 0
            if !isUp { for family in AddressFamily.allCases { dropRoutes(family, index, &contents) } }
        case .addressGeneration(let mode): link.addressGeneration = mode
        case .transmitQueueLength(let packets): link.transmitQueueLength = packets
        case .alias(let text): link.alias = text
        }
        contents.links[index] = link
        return 0
    }

    private static func delete(_ address: InterfaceAddress, _ contents: inout Contents) -> Int32 {
        guard contents.links[address.interface] != nil else { return ENODEV }
        guard contents.addresses.remove(address) != nil else { return EADDRNOTAVAIL }
        guard address.address.family == .ipv4 else { return 0 }
        if contents.sysctls["net/ipv4/conf/phtun0/promote_secondaries"] == "0" {
            let network = IPPrefix(address.address, length: address.prefixLength)
            contents.addresses = contents.addresses.filter {
                $0.prefixLength != address.prefixLength || IPPrefix($0.address, length: $0.prefixLength) != network
            }
        }
        let isLast = !contents.addresses.contains {
            $0.interface == address.interface && $0.address.family == .ipv4
        }
        if isLast { dropRoutes(.ipv4, address.interface, &contents) }
        return 0
    }

    private static func dropRoutes(_ family: AddressFamily, _ interface: UInt32, _ contents: inout Contents) {
        contents.routes = contents.routes.filter { $0.interface != interface || $0.destination.family != family }
    }
}

extension Route {
    fileprivate func occupies(_ other: Route) -> Bool {
        destination == other.destination && table == other.table && metric == other.metric
    }
}
