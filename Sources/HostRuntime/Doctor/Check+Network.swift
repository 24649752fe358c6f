internal import Netlink
internal import NetworkSettings
internal import ProviderKit

/// What tunnels are made of beside the interface.
extension Check {
    /// What DNS settings are given to.
    static func resolver(_ machine: MachineSnapshot) -> Check {
        let topic = "dns"
        switch machine.resolver {
        case .usable(let name):
            let isShared = name.hasPrefix("/") && machine.services.contains(.networkManager)
            return Check(
                topic, name,
                isShared
                    ? [
                        Finding(
                            .warning, "NetworkManager writes \(name) too, so DNS of tunnels may be lost.",
                            run: "systemctl enable --now systemd-resolved")
                    ] : [])
        case .absent(let reason):
            return Check(
                topic, "none",
                [
                    Finding(
                        .note, "DNS of tunnels is not set: \(reason).",
                        run: "d=/etc/netns/$(ip netns identify) && mkdir -p $d && cp /etc/resolv.conf $d/")
                ])
        case .broken(let reason):
            return Check(
                topic, "cannot be told",
                [
                    Finding(
                        .error, "Tunnels with DNS settings fail to start (\(reason)).",
                        run: "systemctl restart systemd-resolved")
                ])
        case .readOnly(let file):
            return Check(
                topic, "\(file), read-only",
                [
                    Finding(
                        machine.user == 0 ? .error : .note,
                        "\(file) cannot be replaced, so tunnels with DNS settings fail to start.",
                        run: machine.user == 0 ? "findmnt -T \(file)" : "sudo providerhost doctor")
                ])
        }
    }

    /// What the kill switch is made with.
    static func filter(_ machine: MachineSnapshot) -> Check {
        let topic = "filter"
        let consequence = "there is no kill switch (--include-all-networks)"
        switch machine.filter {
        case .usable: return Check(topic, "nftables")
        case .programMissing:
            return Check(
                topic, "no nftables",
                [
                    Finding(
                        .warning, "The program nft is missing: \(consequence).", run: "apt-get install nftables")
                ])
        case .refused where !machine.mayAdministerNetwork: return Check(topic, "nftables, which needs CAP_NET_ADMIN")
        case .refused(let cause):
            return Check(
                topic, "nftables does not work",
                [Finding(.warning, "\(cause) So \(consequence).", run: "modprobe nf_tables")])
        }
    }

    /// The networks that carry the tunnels' own packets.
    static func underlay(_ machine: MachineSnapshot) -> Check {
        let topic = "underlay"
        let network: MachineSnapshot.Network
        switch machine.network {
        case .success(let seen): network = seen
        case .failure(let error):
            return Check(
                topic, "not known",
                [
                    Finding(
                        .error, "Interfaces, routes and rules cannot be read: \(error.cause)", run: "ip rule show")
                ])
        }
        let ways = network.defaultLinks
        guard !ways.isEmpty else {
            return Check(
                topic, "no default route",
                [
                    Finding(
                        .note, "There is no default route: only peers in networks with a route are reached.",
                        run: "ip route show")
                ])
        }
        let findings = ways.compactMap { link -> Finding? in
            if network.isForeignTunnel(link) {
                return Finding(
                    .warning,
                    "The default route leads into \(link.name), a tunnel of another program, and so do the packets of "
                        + "our tunnels.", run: "ip route show table main dev \(link.name)")
            }
            // An Ethernet cable's MTU without the headers of IPv6, UDP and WireGuard is what tunnels have by default.
            guard link.mtu < 1500 else { return nil }
            let inner = link.mtu - 80
            guard inner >= 1280 else {
                return Finding(
                    .warning,
                    "\(link.name) carries packets of \(link.mtu) bytes: too few for IPv6 (1280) inside of a tunnel.",
                    run: "ip link set \(link.name) mtu 1500")
            }
            return Finding(
                .note,
                "\(link.name) carries packets of \(link.mtu) bytes: those of tunnels with the usual MTU of 1420 are "
                    + "fragmented. Set MTU = \(inner) in profiles without one.",
                run: "providerhost profile edit NAME --config FILE")
        }
        return Check(topic, ways.map { "\($0.name) with MTU \($0.mtu)" }.joined(separator: ", "), findings)
    }

    /// What killed tunnels left.
    static func leftovers(_ machine: MachineSnapshot) -> Check {
        let topic = "leftovers"
        let sweep: LeftoverSweep
        switch machine.leftovers {
        case .success(let found): sweep = found
        case .failure(let error):
            // A kernel that does not tell of the network either was told of with that.
            guard case .success = machine.network else { return Check(topic, "not known") }
            return Check(
                topic, "not known",
                [Finding(.warning, "Leftovers cannot be looked for: \(error.cause)", run: "providerhost sweep")])
        }
        var findings = LeftoverSweep.Item.Kind.allCases.compactMap { kind -> Finding? in
            let names = sweep.removed.filter { $0.kind == kind }.map(\.name)
            guard !names.isEmpty else { return nil }
            let isGuard = kind == .filterTable
            return Finding(
                isGuard ? .error : .warning,
                "A tunnel that was killed left \(kind.phrase(names))"
                    + (isGuard ? ", which holds packets back." : "."), run: "providerhost sweep")
        }
        // Without the capability it is no news that something cannot be looked at.
        if machine.mayAdministerNetwork {
            findings += sweep.failures.map { Finding(.warning, $0, run: "providerhost sweep") }
        }
        return Check(topic, findings.isEmpty ? "none" : "\(sweep.removed.count)", findings)
    }
}

extension MachineSnapshot.Network {
    /// The interfaces that the main table's default routes lead to, or that have the halves of one.
    var defaultLinks: [Link] {
        let ways = routes.filter { route in
            // Two halves in the place of the default route are the custom of OpenVPN.
            route.table == Route.mainTable && route.kind == .unicast && route.destination.length <= 1
        }
        let indexes = Set(ways.compactMap(\.interface))
        return links.filter { indexes.contains($0.index) && !$0.isOurs }.sorted { $0.name < $1.name }
    }

    /// Whether an interface belongs to a tunnel of another program.
    func isForeignTunnel(_ link: Link) -> Bool {
        ["tun", "wireguard", "ppp", "xfrm", "ipip", "gre", "vti"].contains(link.kind) && !link.isOurs
    }
}

extension Link {
    /// Whether the interface belongs to a session of this program.
    var isOurs: Bool { PolicySlot.isAlias(alias) }
}
