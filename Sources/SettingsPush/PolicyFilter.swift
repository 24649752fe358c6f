import WireGuard

/// Decides what of a snapshot is applied: rules 2 to 8, in order, a reason for each decision.
///
/// Rule 1, the shape, is the codec's; rule 9, the rate, is ``ClientMachine``'s. The filter is a function of policy, context
/// and snapshot, and has no other input.
public struct PolicyFilter: Sendable {
    let policy: PushPolicy
    let context: PolicyContext

    /// Makes the filter of a profile on a machine.
    public init(policy: PushPolicy, context: PolicyContext) {
        self.policy = policy
        self.context = context
    }

    /// What is left of a snapshot, and why the rest is not.
    public func filter(_ snapshot: Snapshot) -> FilterOutcome {
        var outcome = FilterOutcome(snapshot: snapshot)
        filterRoutes(&outcome)
        filterExcludes(&outcome)
        filterAddresses(&outcome)
        filterDNS(&outcome)
        filterMTU(&outcome)
        if let notice = snapshot.notice {
            outcome.settings.notice = notice
            outcome.decide(.notice, 0, .notice, .accepted)
        }
        // A tunnel without any of its addresses carries nothing: what is in force stays.
        outcome.isRejected = !snapshot.addresses.isEmpty && outcome.settings.addresses.isEmpty
        return outcome
    }

    /// Rules 2 and 6.
    private func filterAddresses(_ outcome: inout FilterOutcome) {
        for (index, address) in outcome.snapshot.addresses.enumerated() {
            let (reason, detail) = decide(address)
            outcome.decide(.addresses, index, .address(address), reason, detail)
            if reason == .accepted { outcome.settings.addresses.append(address) }
        }
    }

    private func decide(_ assigned: AssignedAddress) -> (ReasonCode, String?) {
        if let reason = NeverAllowed.reason(againstOwn: assigned.address) { return (reason, nil) }
        if let pools = policy.allowedAddressPools, !pools.contains(where: { $0.contains(assigned.address) }) {
            return (.outsideAddressPools, nil)
        }
        if let interface = context.addressesInUse[assigned.address] { return (.addressInUse, interface) }
        return (.accepted, nil)
    }

    /// Rule 8: an MTU is brought into the range, never refused.
    private func filterMTU(_ outcome: inout FilterOutcome) {
        guard let offered = outcome.snapshot.mtu.map(Int.init) else { return }
        let settings = outcome.settings
        // RFC 8200 section 5: no link that carries IPv6 has less than 1280.
        let hasIPv6 =
            settings.addresses.contains { $0.address.bitWidth == 128 } || settings.routes.contains { !$0.isIPv4 }
        let least = max(hasIPv6 ? 1280 : 576, policy.mtuRange.lowerBound)
        let most = max(least, min(policy.mtuRange.upperBound, context.largestMTU))
        let taken = min(max(offered, least), most)
        outcome.settings.mtu = taken
        outcome.decide(
            .link, 0, .mtu(offered), taken == offered ? .accepted : .mtuClamped, taken == offered ? nil : "\(taken)")
    }
}
