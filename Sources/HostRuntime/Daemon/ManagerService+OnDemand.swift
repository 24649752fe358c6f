internal import Control
internal import Foundation
internal import NetworkSettings
internal import OnDemand
internal import ProviderKit
internal import Session

/// On-demand: sessions that rules start and stop, without any client.
extension ManagerService {
    /// Lets rules start and stop sessions from now on.
    func follow(_ driver: OnDemandDriver) {
        onDemand = driver
        driver.onStart = { [unowned self] in startOnDemand($0) }
        driver.onStop = { [unowned self] in stopOnDemand($0) }
        driver.onProblem = { [unowned self] in writeLine(.error, $0) }
        sessions.onEnd = { [unowned driver] in driver.send(.sessionEnded(wasRequested: $1), to: $0) }
        for configuration in configurations.values { putInForce(configuration) }
    }

    /// Hands the rules of a configuration over, as far as they are in force.
    func putInForce(_ configuration: ManagedConfiguration) {
        onDemand?.configure(configuration.key, rules: configuration.onDemandRulesInForce)
    }

    /// Starts a session by a rule: without options, and the provider is told so.
    func startOnDemand(_ key: String) {
        guard let configuration = configurations[key], let tunnel = sessions.tunnel(key) else { return }
        // Somebody was faster.
        if let running = tunnel.running, !running.isStopping { return }
        note(tunnel, "starts the tunnel")
        do {
            try sessions.start(key, try hostConfiguration(configuration, options: nil, isOnDemand: true))
        } catch {
            sessions.noteFailure(error, of: key)
            onDemand?.send(.sessionEnded(wasRequested: false), to: key)
        }
    }

    /// Stops a session by a rule.
    func stopOnDemand(_ key: String) {
        guard let tunnel = sessions.tunnel(key), tunnel.running != nil else { return }
        note(tunnel, "stops the tunnel")
        sessions.stop(key, .none)
    }

    /// What the rules of a configuration came to.
    func explanation(_ access: Access) throws -> OnDemandState {
        let configuration = try subject(access)
        guard let machine = onDemand?.machine(configuration.key), let rules = machine.rules else {
            return OnDemandState(reason: configuration.content.reasonWithoutRules)
        }
        var state = OnDemandState(reason: "The network has not been looked at yet.")
        state.isInForce = true
        state.failures = machine.failures
        state.nextStart = machine.retryTime.map(Self.secondsSince1970)
        guard let decision = machine.decision else { return state }
        if case .rule(let index, _) = decision.reason { state.rule = index + 1 }
        state.action = decision.action.map { "\($0)" }
        state.reason = decision.sentence(count: rules.count)
        state.time = Self.secondsSince1970(decision.time)
        var network = OnDemandState.Network(
            dnsServers: decision.network.dnsServers, searchDomains: decision.network.searchDomains)
        network.interface = decision.network.primary?.name
        network.type = decision.network.primary?.kind.rawValue
        network.ssid = decision.network.primary?.ssid
        state.network = network
        return state
    }

    /// Finds out whether a connection to a host needs the tunnel, and starts it then.
    func evaluateConnection(
        _ call: IncomingCall, _ access: Access, _ connection: ServerConnection
    ) throws -> ControlServer.Outcome {
        let request = try call.parameters(as: ManagerMessages.Destination.self)
        guard DomainName(request.host) != nil else {
            throw ControlError(
                .hostInvalid, cause: "`\(String(request.host.prefix(255)).printable)` is no name of a host.")
        }
        let key = try subject(access).key
        if let running = try tunnel(access).running, !running.isStopping {
            return .reply(
                try WireCodec.reply(ManagerMessages.Verdict(isNeeded: false, reason: "The tunnel is already up.")))
        }
        let token = connection.token
        let isAsked = onDemand?.ask(key, host: request.host) { [unowned self] isNeeded, reason in
            sessions.inbox.put(.answer(connection: token, verdict(key, isNeeded, reason)))
        }
        guard isAsked == true else {
            throw SessionError(.tooManyRequests, cause: "Too many questions about hosts are open already.")
        }
        return .later
    }

    /// The answer to a question about a host, with the start that it leads to.
    private func verdict(_ key: String, _ isNeeded: Bool, _ reason: String) -> [UInt8] {
        do {
            if isNeeded, let configuration = configurations[key], let tunnel = sessions.tunnel(key),
                tunnel.running == nil
            {
                publish(tunnel.log.add(.info, "on demand: \(reason) That starts the tunnel."), of: tunnel)
                try sessions.start(key, try hostConfiguration(configuration, options: nil, isOnDemand: true))
            }
            return try WireCodec.reply(ManagerMessages.Verdict(isNeeded: isNeeded, reason: reason))
        } catch {
            return Self.refusal(error)
        }
    }

    private func note(_ tunnel: ManagedTunnel, _ deed: String) {
        guard let machine = onDemand?.machine(tunnel.identifier), let decision = machine.decision else { return }
        let text = "on demand: \(decision.sentence(count: machine.rules?.count ?? 0)) That \(deed)."
        publish(tunnel.log.add(.info, text), of: tunnel)
    }

    private static func secondsSince1970(_ time: ContinuousClock.Instant) -> Double {
        Date.now.timeIntervalSince1970 + (time - .now) / .seconds(1)
    }
}

extension ManagedConfiguration {
    /// The rules that start and stop its session; nil where there are none, or where they are not enabled.
    fileprivate var onDemandRulesInForce: [OnDemandRule]? {
        guard content.isEnabled, content.isOnDemandEnabled, tunnelProvider != nil, let rules = content.onDemandRules,
            !rules.isEmpty
        else { return nil }
        return rules.map(\.canonical)
    }
}

extension VPNConfiguration {
    fileprivate var reasonWithoutRules: String {
        if !isEnabled { return "The configuration is disabled." }
        if !isOnDemandEnabled { return "On-demand is off." }
        if onDemandRules?.isEmpty ?? true { return "There are no rules." }
        return "No provider of this machine serves the protocol."
    }
}

extension OnDemandDecision {
    /// The decision for people, of one of so many rules.
    fileprivate func sentence(count: Int) -> String {
        switch reason {
        case .rule(let index, let rule):
            "Rule \(index + 1) of \(count) (\(rule.action.phrase)) is the first that matches."
        case .noRule: "None of \(count) rules matches, so nothing is done."
        case .noNetwork: "No interface leads out of the machine, so nothing is done."
        case .foreignTunnel: "Another tunnel leads out of the machine, for which rules are not evaluated."
        }
    }
}

extension OnDemandRuleAction {
    fileprivate var phrase: String {
        switch self {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .evaluateConnection: "evaluate connections"
        case .ignore: "ignore"
        }
    }
}
