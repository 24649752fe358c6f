public import ProviderKit

/// What happened to an ``OnDemandMachine``.
public enum OnDemandEvent: Sendable {
    /// The configuration was saved: its rules; nil while they are not in force.
    case configured([OnDemandRule]?)
    /// The network is another one, or was looked at for the first time; nil once nobody looks at it any more.
    case network(NetworkSnapshot?)
    /// An ``OnDemandAction/probe(_:interface:)`` came to its end.
    case probed(String, isReachable: Bool)
    /// A session of the configuration began, whoever started it.
    case sessionBegan
    /// The session is connected.
    case sessionConnected
    /// The session ended, because somebody asked for it or by itself; so did a start that was refused.
    case sessionEnded(wasRequested: Bool)
    /// What made starts fail may be gone.
    case mayRetry
}

/// What is to be done.
public enum OnDemandAction: Sendable, Equatable {
    /// Start the session: without options, and as on demand.
    case start
    /// Stop the session.
    case stop
    /// Ask whether a URL answers with 200 through an interface.
    case probe(String, interface: String)
}
