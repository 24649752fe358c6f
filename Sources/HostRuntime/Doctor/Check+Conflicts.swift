internal import Netlink
internal import NetworkSettings

/// Who else wants to decide.
extension Check {
    /// The main table's own rule; what stands before it decides first.
    private static let mainPriority: UInt32 = 32_766

    /// Rules of other programs before the main table's.
    static func rules(_ machine: MachineSnapshot) -> Check {
        let topic = "rules"
        guard case .success(let network) = machine.network else { return Check(topic, "not known") }
        let ours = network.rules.filter { PolicySlot.owner(of: $0) != nil }
        let foreign = network.rules.filter {
            $0.priority < mainPriority && PolicySlot.owner(of: $0) == nil && $0.diverts
        }
        // A program has a rule for each family, and several to one end: the first one tells.
        var seen: Set<Rule.Action> = []
        let findings = foreign.sorted { $0.priority < $1.priority }.filter { seen.insert($0.action).inserted }.map {
            finding($0, network)
        }
        return Check(topic, "\(ours.count) of tunnels, \(foreign.count) of other programs before main", findings)
    }

    private static func finding(_ rule: Rule, _ network: MachineSnapshot.Network) -> Finding {
        let program = owner(of: rule, network)
        let name = program.map { "\($0.name)'s rule" } ?? "A rule of another program"
        let sentence = "\(name) (\(rule))"
        let command = program?.command ?? "ip rule show"
        return switch rule.priority {
        case ..<PolicySlot.priorities.lowerBound:
            Finding(
                .warning, "\(sentence) decides before those of tunnels, and may lead packets past them.", run: command)
        case PolicySlot.priorities:
            Finding(.warning, "\(sentence) stands among those of tunnels, where only ours are expected.", run: command)
        default: Finding(.note, "\(sentence) decides about what no tunnel takes.", run: command)
        }
    }

    /// The program that a rule is known to be of, and the command that ends its tunnel.
    private static func owner(
        of rule: Rule, _ network: MachineSnapshot.Network
    ) -> (name: String, command: String)? {
        switch rule.table {
        case 52: return ("Tailscale", "tailscale down")
        case 205: return ("NordVPN", "nordvpn disconnect")
        case 220: return ("strongSwan", "swanctl --list-sas")
        case 0x6d6f_6c65: return ("Mullvad", "mullvad disconnect")
        case let table?:
            // wg-quick gives its table the number of the tunnel's port and mark, and the default route in it.
            let route = network.routes.first { $0.table == table && $0.destination.isDefault && $0.interface != nil }
            guard let link = network.links.first(where: { $0.index == route?.interface }),
                ["wireguard", "tun"].contains(link.kind), rule.mark == table
            else { return nil }
            return ("wg-quick", "wg-quick down \(link.name)")
        case nil: return nil
        }
    }

    /// Services that look after the network.
    static func services(_ machine: MachineSnapshot) -> Check {
        let running = NetworkService.allCases.filter(machine.services.contains)
        let findings = running.filter { !machine.sparingServices.contains($0) }.map(\.finding)
        return Check(
            "services", running.isEmpty ? "none" : running.map(\.rawValue).joined(separator: ", "), findings)
    }
}

extension NetworkService {
    /// What the service may do to tunnels unless it is told not to.
    fileprivate var finding: Finding {
        switch self {
        case .networkManager:
            Finding(
                .note, "NetworkManager runs and was not told to leave the interfaces phtun* alone.",
                run: #"printf '[keyfile]\nunmanaged-devices+=interface-name:phtun*\n' "#
                    + ">/etc/NetworkManager/conf.d/providerhost.conf && nmcli general reload")
        case .networkd:
            Finding(
                .warning, "systemd-networkd runs and removes routes that it does not know, also those of tunnels.",
                run: "mkdir -p /etc/systemd/networkd.conf.d && "
                    + #"printf '[Network]\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules=no\n' "#
                    + ">/etc/systemd/networkd.conf.d/providerhost.conf && systemctl restart systemd-networkd")
        case .firewalld:
            Finding(
                .note, "firewalld runs: what comes in through tunnels is treated as its default zone says.",
                run: "firewall-cmd --permanent --zone=trusted --add-interface=phtun0 && firewall-cmd --reload")
        }
    }
}

extension Rule {
    /// Whether the rule leads packets elsewhere than the system's own tables would.
    fileprivate var diverts: Bool {
        switch action {
        // Table 0 is that of a VRF, which takes packets of its own interfaces only; 253 and up are the system's.
        case .lookup(let table): table != 0 && !(253...255).contains(table)
        // With a mark it is about some program's own packets.
        case .unreachable, .other: mark == nil
        }
    }
}
