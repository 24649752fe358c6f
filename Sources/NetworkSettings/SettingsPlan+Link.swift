import Netlink

extension SettingsPlan {
    /// Lets marked replies pass reverse-path filtering, which a default route in the tunnel would else break.
    static let validMark = "net/ipv4/conf/all/src_valid_mark"

    /// Keeps the other addresses of a network when the first one goes; without it the kernel removes them all.
    static func promoteSecondaries(_ interface: String) -> String {
        "net/ipv4/conf/\(interface)/promote_secondaries"
    }

    /// The smallest MTU with which the kernel keeps IPv6 on an interface.
    private static let smallestIPv6MTU = 1280

    /// MTU, address generation and state, before there are addresses.
    mutating func prepareLink(_ old: AppliedState, _ target: Target, _ link: Link) {
        guard let mtu = target.mtu else { return }
        result.original =
            old.original
            ?? AppliedState.Original(mtu: link.mtu, isUp: link.isUp, addressGeneration: link.addressGeneration)
        if mtu != link.mtu, !Self.dropsIPv6(from: link.mtu, to: mtu) {
            set(link, "set the MTU", .mtu(mtu), back: .mtu(link.mtu))
        }
        // Nobody on a tunnel hears neighbour discovery: link-local addresses are the provider's to give.
        if let mode = link.addressGeneration, mode != .none {
            set(link, "switch address generation off", .addressGeneration(.none), back: .addressGeneration(mode))
        }
        if !link.isUp { set(link, "bring the interface up", .up(true), back: .up(false)) }
    }

    /// What waits until the old addresses are gone: an MTU too small for IPv6, and the link's original properties.
    mutating func settleLink(_ old: AppliedState, _ target: Target, _ link: Link) {
        if let mtu = target.mtu {
            if Self.dropsIPv6(from: link.mtu, to: mtu) { set(link, "set the MTU", .mtu(mtu), back: .mtu(link.mtu)) }
            return
        }
        guard let original = old.original else { return }
        if !original.isUp, link.isUp { set(link, "bring the interface down", .up(false), back: .up(true)) }
        if let mode = original.addressGeneration, let now = link.addressGeneration, mode != now {
            set(link, "restore address generation", .addressGeneration(mode), back: .addressGeneration(now))
        }
        // An MTU that somebody else has set meanwhile is theirs.
        if link.mtu != original.mtu, link.mtu == old.mtu {
            set(link, "restore the MTU", .mtu(original.mtu), back: .mtu(link.mtu))
        }
    }

    /// Changes the kernel settings that the wanted state needs, and remembers those that were changed before.
    mutating func setSysctls(_ old: AppliedState, _ target: Target, _ layout: PolicyLayout, _ observed: Observation) {
        for name in Self.needed(target, layout, observed) {
            if let earlier = old.sysctls.first(where: { $0.name == name }) {
                result.sysctls.append(earlier)
            } else if let value = observed.sysctls[name], value != "1" {
                steps.append(Step(purpose: "set \(name)", action: .sysctl(name: name, from: value, to: "1")))
                result.sysctls.append(AppliedState.Sysctl(name: name, original: value, ours: "1"))
            }
        }
    }

    /// Restores what is no longer needed, unless somebody else has changed it or another tunnel relies on it.
    mutating func restoreSysctls(
        _ old: AppliedState, _ target: Target, _ layout: PolicyLayout, _ observed: Observation
    ) {
        let needed = Self.needed(target, layout, observed)
        let others = observed.rules.contains { PolicySlot.owner(of: $0).map { $0 != target.slot } ?? false }
        for sysctl in old.sysctls where !needed.contains(sysctl.name) {
            guard observed.sysctls[sysctl.name] == sysctl.ours, !(others && sysctl.name == Self.validMark) else {
                continue
            }
            steps.append(
                Step(
                    purpose: "restore \(sysctl.name)",
                    action: .sysctl(name: sysctl.name, from: sysctl.ours, to: sysctl.original)))
        }
    }

    private static func needed(_ target: Target, _ layout: PolicyLayout, _ observed: Observation) -> [String] {
        let hasIPv4 = target.desired?.addresses.contains { $0.address.family == .ipv4 } ?? false
        return (hasIPv4 ? [promoteSecondaries(observed.link.name)] : []) + (layout.needsValidMark ? [validMark] : [])
    }

    private static func dropsIPv6(from old: Int, to new: Int) -> Bool {
        new < smallestIPv6MTU && old >= smallestIPv6MTU
    }

    private mutating func set(
        _ link: Link, _ purpose: String, _ setting: Request.LinkSetting, back: Request.LinkSetting
    ) {
        batch(
            purpose,
            [Move(request: .setLink(link.index, setting), inverse: .setLink(link.index, back))])
    }
}
