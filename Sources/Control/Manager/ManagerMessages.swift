internal import Foundation
public import ProviderKit

/// The parameters and replies of the methods, by the names of the table.
public enum ManagerMessages {
    /// Parameters of `List` and `Watch`.
    public struct Application: Codable, Sendable, Equatable {
        public var application: String?
        public init(application: String?) { self.application = application }
    }

    /// Parameters of everything that is about one configuration and needs nothing else.
    public struct Identifier: Codable, Sendable, Equatable {
        public var identifier: String
        public init(identifier: String) { self.identifier = identifier }
    }

    /// Reply of `List`.
    public struct Listing: Codable, Sendable, Equatable {
        public var configurations: [ManagedConfiguration]
        public var sessions: [SessionState]
        public init(configurations: [ManagedConfiguration], sessions: [SessionState]) {
            self.configurations = configurations
            self.sessions = sessions
        }
    }

    /// Reply of `Get`.
    public struct Single: Codable, Sendable, Equatable {
        public var configuration: ManagedConfiguration
        public var session: SessionState
        public init(configuration: ManagedConfiguration, session: SessionState) {
            self.configuration = configuration
            self.session = session
        }
    }

    /// Parameters of `Save`.
    public struct Save: Codable, Sendable, Equatable {
        public var configuration: ManagedConfiguration
        public var secrets: [NewSecret]?
        public init(configuration: ManagedConfiguration, secrets: [NewSecret]?) {
            self.configuration = configuration
            self.secrets = secrets
        }
    }

    /// Reply of `Save`.
    public struct Saved: Codable, Sendable, Equatable {
        public var generation: UInt64
        /// What works but is probably not meant.
        public var warnings: [String]
        public init(generation: UInt64, warnings: [String]) {
            self.generation = generation
            self.warnings = warnings
        }
    }

    /// Parameters of `Remove`.
    public struct Remove: Codable, Sendable, Equatable {
        public var identifier: String
        public var generation: UInt64?
        public init(identifier: String, generation: UInt64?) {
            self.identifier = identifier
            self.generation = generation
        }
    }

    /// Parameters of `Start`.
    public struct Start: Codable, Sendable, Equatable {
        public var identifier: String
        public var generation: UInt64?
        public var options: [String: PropertyListValue]?
        public init(identifier: String, generation: UInt64?, options: [String: PropertyListValue]?) {
            self.identifier = identifier
            self.generation = generation
            self.options = options
        }
    }

    /// Reply of `Watch`.
    public struct Change: Codable, Sendable, Equatable {
        public var sessions: [SessionState]
        public var changed: [String]
        public init(sessions: [SessionState], changed: [String]) {
            self.sessions = sessions
            self.changed = changed
        }
    }

    /// Parameters of `SendMessage`.
    public struct Message: Codable, Sendable, Equatable {
        public var identifier: String
        private var message: Data
        public init(identifier: String, message: [UInt8]) {
            self.identifier = identifier
            self.message = Data(message)
        }

        /// The message's bytes.
        public var bytes: [UInt8] { [UInt8](message) }
    }

    /// Reply of `SendMessage`.
    public struct MessageReply: Codable, Sendable, Equatable {
        private var reply: Data?
        public init(reply: [UInt8]?) { self.reply = reply.map { Data($0) } }

        /// The reply's bytes.
        public var bytes: [UInt8]? { reply.map { [UInt8]($0) } }
    }

    /// Reply of `FetchLastDisconnectError`.
    public struct LastError: Codable, Sendable, Equatable {
        public var error: FailureMessage?
        public init(error: TunnelFailure?) { self.error = error.map { FailureMessage($0) } }
    }

    /// Reply of `Counters`.
    public struct CountersReply: Codable, Sendable, Equatable {
        public var counters: Counters
        public init(counters: Counters) { self.counters = counters }
    }

    /// Reply of `Explain`.
    public struct Explanation: Codable, Sendable, Equatable {
        public var onDemand: OnDemandState
        public init(onDemand: OnDemandState) { self.onDemand = onDemand }
    }

    /// Parameters of `EvaluateConnection`.
    public struct Destination: Codable, Sendable, Equatable {
        public var identifier: String
        public var host: String
        public init(identifier: String, host: String) {
            self.identifier = identifier
            self.host = host
        }
    }

    /// Reply of `EvaluateConnection`.
    public struct Verdict: Codable, Sendable, Equatable {
        /// Whether the tunnel is needed; it is started then.
        public var isNeeded: Bool
        public var reason: String
        public init(isNeeded: Bool, reason: String) {
            self.isNeeded = isNeeded
            self.reason = reason
        }
    }

    /// Reply of `Log`.
    public struct Lines: Codable, Sendable, Equatable {
        public var lines: [LogLine]
        public init(lines: [LogLine]) { self.lines = lines }
    }
}
