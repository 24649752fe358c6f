import Control
import Netlink
import PacketPath
import ProviderKit
import SystemStore

@testable import HostRuntime

extension MachineSnapshot {
    /// A machine on which nothing is wrong: the manager runs, and a cable leads outside.
    static func healthy() throws -> MachineSnapshot {
        let now: Int64 = 1_800_000_000
        let network = Network(
            links: [
                Link(index: 1, name: "lo", flags: 1, mtu: 65_536), Link(index: 2, name: "eth0", flags: 1, mtu: 1500),
            ],
            rules: AddressFamily.allCases.flatMap { family in
                [(0, 255), (32_766, 254), (32_767, 253)].map { priority, table in
                    Rule(family: family, priority: priority, action: .lookup(table), protocolNumber: 2)
                }
            },
            routes: [Route(.everything(.ipv4), interface: 2, gateway: IPAddress("192.0.2.254"), protocolNumber: 4)])
        return MachineSnapshot(
            version: "1", user: 0, mayAdministerNetwork: true,
            device: .usable([.checksum, .tso4, .tso6, .uso4, .uso6]),
            socketOffloads: SocketOffloads(segmentation: true, receive: true), switches: [],
            runtimeFolder: "/run/providerhost", manager: .success("1"),
            stateFolder: StateFolder(path: "/var/lib/providerhost"),
            store: StoreInspection(.sound(version: 1), lastWritten: now - 3600),
            resolver: .usable(name: "systemd-resolved"), filter: .usable, network: .success(network), services: [],
            sparingServices: [], leftovers: .success(LeftoverSweep(rehearsed: [])), now: now)
    }

    /// Changes the interfaces, rules and routes.
    mutating func changeNetwork(_ change: (inout Network) -> Void) {
        guard case .success(var changed) = network else { return }
        change(&changed)
        network = .success(changed)
    }

    /// Adds a rule, of another program unless it is made as ours are.
    mutating func addRule(_ priority: UInt32, mark: UInt32? = nil, by number: UInt8 = 4, _ action: Rule.Action) {
        changeNetwork { network in
            network.rules += AddressFamily.allCases.map {
                Rule(family: $0, priority: priority, mark: mark, action: action, protocolNumber: number)
            }
        }
    }

    /// Adds an interface, and a route to it in a table.
    mutating func addLink(
        _ name: String, kind: String?, mtu: Int = 1500, alias: String? = nil, table: UInt32? = nil, length: Int = 0
    ) {
        changeNetwork { network in
            var link = Link(index: 9, name: name, flags: 1, mtu: mtu, kind: kind)
            link.alias = alias
            network.links.append(link)
            guard let table, let prefix = IPPrefix(.unspecified(.ipv4), length: length) else { return }
            network.routes.append(Route(prefix, interface: 9, table: table, protocolNumber: 4))
        }
    }

    /// Makes a failure of a look at the manager.
    mutating func fail(_ code: ControlErrorCode, _ cause: String? = nil) {
        manager = .failure(TunnelFailure(ControlError(code, cause: cause)))
    }
}
