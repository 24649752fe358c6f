public import Netlink
public import ProviderKit
import Synchronization

/// The network settings of one interface: applied as a whole or not at all, and taken back.
///
/// A set replaces the one before it; an equal set changes nothing; nil clears. While a new set is applied the old one
/// stays in force until the new one is complete. Calls take turns.
public final class InterfaceSettings: Sendable {
    private struct State {
        var applied = AppliedState()
        var settings: PacketTunnelNetworkSettings?
        var result: SettingsResult?
        /// Made for the first settings with DNS.
        var resolver: (any Resolver)?
    }

    /// The interface, which must exist while settings are applied.
    public let link: Link
    /// Where the tunnel's rules and tables are.
    public let slot: PolicySlot
    /// The mark for sockets whose packets must not enter the tunnel.
    public let mark: UInt32

    let effects: any SettingsEffects
    private let trafficGuard: TrafficGuard?
    private let filter: (any PacketFilter)?
    private let makeResolver: @Sendable () throws(ResolverError) -> any Resolver
    private let state = Mutex(State())

    /// Settings for an existing interface, in the first slot that nobody uses.
    ///
    /// A slot is in use from the first settings with routes on. A caller with several tunnels names the slots of those
    /// that have none yet in `taken`. `mark` overrides the slot's default; all its 32 bits are compared. `resolver` is called
    /// once, for the first settings with DNS. `trafficGuard` has been armed; from now on it follows the settings. `filter` marks
    /// replies while a default route leads into the tunnel; without it they are not.
    public init(
        interface: String, effects: any SettingsEffects, mark: UInt32? = nil, taken: Set<PolicySlot> = [],
        trafficGuard: TrafficGuard? = nil, filter: (any PacketFilter)? = nil,
        resolver: @escaping @Sendable () throws(ResolverError) -> any Resolver
    ) throws(SettingsApplyError) {
        do throws(NetlinkError) {
            let link = try effects.link(named: interface)
            let slot = try Self.freeSlot(effects, taken)
            guard let slot else { throw NetlinkError(code: 28, request: "find a free slot of rules and tables") }
            self.link = link
            self.slot = slot
            self.mark = mark ?? slot.defaultMark
            self.effects = effects
            self.trafficGuard = trafficGuard
            self.filter = filter
            makeResolver = resolver
            let armed = trafficGuard?.armed(interface) ?? []
            state.withLock { $0.applied.filter = armed }
        } catch {
            throw SettingsApplyError(step: "find the interface", underlying: error)
        }
    }

    /// Replaces the settings in force; nil clears them.
    ///
    /// Throws `SettingsDefect` before anything is touched, or `SettingsApplyError` after everything was undone.
    /// `underlayMTU` overrides the MTU of the default route's interface where the MTU is derived.
    @discardableResult
    public func apply(_ settings: PacketTunnelNetworkSettings?, underlayMTU: Int? = nil) throws -> SettingsResult {
        try state.withLock { state in
            if var result = state.result, state.settings == settings {
                result.changed = false
                return result
            }
            return try apply(settings, underlayMTU, &state)
        }
    }

    /// Lets the sockets that carry `mark` past the kill switch, which let nothing out until now.
    public func admitSockets() throws {
        guard trafficGuard != nil else { return }
        _ = try state.withLock { state in try apply(state.settings, nil, &state) }
    }

    /// Puts back what another program has taken away, and follows the networks that the machine is connected to.
    ///
    /// - Returns: What was put back, as phrases.
    public func restore() throws -> [String] {
        try state.withLock { state in
            let phrases = try putBack(state.applied, filter ?? trafficGuard?.filter)
            if trafficGuard?.killSwitch.excludesLocalNetworks == true { _ = try apply(state.settings, nil, &state) }
            return phrases
        }
    }

    private func apply(
        _ settings: PacketTunnelNetworkSettings?, _ underlayMTU: Int?, _ state: inout State
    ) throws -> SettingsResult {
        let desired = try settings.map { settings throws(SettingsDefect) in try DesiredState(settings) }
        var target = desired
        let limitation = try limit(&target, &state)
        let plan = try plan(target, from: state.applied, underlayMTU)
        try executor(state).run(plan) { () throws(SettingsApplyError) in try verify(plan.result) }
        let hadState = state.result != nil
        state.applied = plan.result
        state.settings = settings
        var result = describe(plan, desired, changed: hadState || settings != nil)
        result.shortfalls = [limitation, shortMTU(plan, desired, underlayMTU), lostExclusions(plan, desired)]
            .compactMap(\.self)
        state.result = result
        return result
    }

    /// Takes everything back as far as it can be, also when the interface is gone, and returns what is left as phrases.
    public func teardown() -> [String] {
        state.withLock { state in
            let failures: [String]
            do throws(SettingsApplyError) {
                let plan = try plan(nil, from: state.applied, nil, isEnd: true)
                failures = executor(state).runToTheEnd(plan)
            } catch {
                // Nothing was touched: what is applied stays known for another try.
                return [error.cause]
            }
            state = State()
            return failures
        }
    }

    /// Readable when ``restoreResolver()`` may have something to do; nil if it never has.
    public var resolverDescriptor: Int32? { state.withLock { $0.resolver?.changeDescriptor } }

    /// Tells the resolver everything again if it was restarted, which made it forget.
    ///
    /// - Returns: Whether there was anything to tell.
    public func restoreResolver() throws(SettingsApplyError) -> Bool {
        try state.withLock { (state) throws(SettingsApplyError) in
            guard let resolver = state.resolver, resolver.hasForgotten(),
                let configuration = state.applied.resolver
            else { return false }
            do throws(ResolverError) {
                try resolver.set(configuration, on: link)
            } catch {
                throw SettingsApplyError(step: "set DNS again", reason: error.description)
            }
            return true
        }
    }

    /// Leaves out DNS that the back end cannot express, and says why.
    private func limit(
        _ desired: inout DesiredState?, _ state: inout State
    ) throws(SettingsApplyError) -> SettingsShortfall? {
        guard desired?.hasDNS == true else { return nil }
        guard let wanted = desired?.resolver else {
            return .dns("there is no server in them.", remedy: "Name a server with the domains.")
        }
        do throws(ResolverError) {
            let resolver = if let made = state.resolver { made } else { try makeResolver() }
            state.resolver = resolver
            let limitation = resolver.limitation(wanted)
            if limitation != nil { desired?.resolver = nil }
            return limitation
        } catch {
            throw SettingsApplyError(step: "find the resolver", reason: error.description)
        }
    }

    private func executor(_ state: State) -> PlanExecutor {
        PlanExecutor(
            effects: effects, resolver: state.resolver, filter: filter ?? trafficGuard?.filter, link: link)
    }

    private func plan(
        _ desired: DesiredState?, from applied: AppliedState, _ underlayMTU: Int?, isEnd: Bool = false
    ) throws(SettingsApplyError) -> SettingsPlan {
        do throws(NetlinkError) {
            let observed = try observe(applied, mayBeGone: desired == nil)
            var desired = desired
            var circumstances = KillSwitch.Circumstances(interface: link.name, mark: mark)
            if !isEnd, trafficGuard?.killSwitch.excludesLocalNetworks == true {
                let main = try effects.routes(table: Route.mainTable)
                let addresses = desired?.addresses.map(\.address) ?? []
                let local = LocalNetworks.connected(main, except: link.index, addresses)
                circumstances.localNetworks = local
                desired?.exclude(local)
            }
            circumstances.desired = desired
            var mtu: Int?
            if let desired {
                var underlay = underlayMTU
                if underlay == nil, case .underlay = desired.mtu { underlay = try findUnderlayMTU() }
                mtu = desired.mtuBytes(underlay: underlay)
            }
            let target = SettingsPlan.Target(
                slot: slot, mark: mark, desired: desired, mtu: mtu, filter: isEnd ? [] : tables(circumstances))
            return SettingsPlan.make(from: applied, to: target, observed: observed)
        } catch {
            throw SettingsApplyError(step: "read the system's state", underlying: error)
        }
    }

    private func tables(_ now: KillSwitch.Circumstances) -> [FilterTable] {
        let guarding = trafficGuard?.killSwitch.tables(now) ?? []
        guard filter != nil, let desired = now.desired, desired.leadsDefault else { return guarding }
        return guarding
            + [ReplyMarks.table(link.name, mark: mark, desired, answersOutside: trafficGuard == nil)]
    }
}
