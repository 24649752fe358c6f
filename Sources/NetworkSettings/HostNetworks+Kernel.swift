public import Netlink
public import ProviderKit

extension SystemEffects {
    /// What the machine is connected to beside one interface.
    public func hostNetworks(beside tunnel: UInt32) throws(NetlinkError) -> HostNetworks {
        HostNetworks(
            links: try links(), addresses: try addresses(), main: try routes(table: Route.mainTable), beside: tunnel)
    }
}

extension HostNetworks {
    /// Puts together what the kernel lists.
    init(links: [Link], addresses: [InterfaceAddress], main: [Route], beside tunnel: UInt32) {
        let known = Dictionary(links.map { ($0.index, $0) }) { $1 }
        self.init(
            addresses: addresses.compactMap { address in
                // Loopback addresses cannot be mistaken for anybody else's.
                guard address.interface != tunnel, let link = known[address.interface], !link.isLoopback else {
                    return nil
                }
                return Address(
                    interface: link.name, address: "\(address.address)", prefixLength: address.prefixLength,
                    mtu: link.mtu)
            },
            defaultRouteMTU: InterfaceSettings.wayOut(main, beside: tunnel).flatMap { known[$0]?.mtu })
    }
}

extension Link {
    /// IFF_LOOPBACK of linux/if.h.
    fileprivate var isLoopback: Bool { flags & 8 != 0 }
}
