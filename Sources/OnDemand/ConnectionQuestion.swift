internal import ProviderKit

/// Whether a connection to a host needs the tunnel: a question that goes on step by step, as its answers come.
///
/// ```
///  decision ── connect ───────────────────────────────► yes
///     │ evaluate connection        no answer                │
///     ├──► resolve the name ──────────────────────────► yes │
///     │       │ answered               not 200              │
///     │       └──► probe a URL, if any ───────────────► yes ┘
///     │                    └── 200 ──► no
///     └── anything else ──────────────► no
/// ```
public struct ConnectionQuestion: Sendable, Equatable {
    /// What is to be done next.
    public enum Step: Sendable, Equatable {
        /// Find out whether the name can be resolved, by these servers or else as any program would.
        case resolve(String, servers: [String]?)
        /// Find out whether a URL answers with 200 through an interface.
        case probe(String, interface: String)
        /// The answer: whether the tunnel is needed, and why.
        case answer(Bool, because: String)
    }

    /// What is to be done next.
    public private(set) var step: Step
    private let rule: EvaluateConnectionRule?
    private let interface: String

    /// Asks about a host by name.
    ///
    /// - Parameters:
    ///   - host: The name.
    ///   - decision: What the rules came to in this network; nil while they are not in force.
    public init(about host: String, _ decision: OnDemandDecision?) {
        interface = decision?.network.primary?.name ?? ""
        guard case .rule(let index, let onDemandRule)? = decision?.reason else {
            rule = nil
            step = .answer(false, because: "No on-demand rule decides in this network.")
            return
        }
        let name = "Rule \(index + 1)"
        switch onDemandRule.action {
        case .connect:
            rule = nil
            step = .answer(true, because: "\(name) connects whatever the host is.")
        case .disconnect, .ignore:
            rule = nil
            step = .answer(false, because: "\(name) never starts the tunnel.")
        case .evaluateConnection:
            rule = onDemandRule.connectionRules?.first { rule in
                rule.matchDomains.contains { HostName.isWithin(host, domain: $0) }
            }
            step =
                switch rule?.action {
                case nil: .answer(false, because: "No domain of \(name.lowercased()) is that of \(host).")
                case .neverConnect: .answer(false, because: "\(name) never starts the tunnel for \(host).")
                case .connectIfNeeded: .resolve(host, servers: rule?.useDNSServers)
                }
        }
    }

    /// Takes the result of the step.
    public mutating func take(_ isReachable: Bool) {
        switch step {
        case .resolve(let host, _) where !isReachable:
            step = .answer(true, because: "\(host) cannot be resolved without the tunnel.")
        case .resolve(let host, _):
            if let url = rule?.probeURL {
                step = .probe(url, interface: interface)
            } else {
                step = .answer(false, because: "\(host) can be resolved without the tunnel.")
            }
        case .probe(let url, _):
            step =
                isReachable
                ? .answer(false, because: "\(url) answers without the tunnel.")
                : .answer(true, because: "\(url) does not answer with 200 without the tunnel.")
        case .answer: break
        }
    }
}
