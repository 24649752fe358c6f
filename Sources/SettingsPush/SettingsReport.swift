public import ProviderKit

/// What of a tunnel's settings is in force and where each part comes from, and what became of what a gateway offered.
public struct SettingsReport: Sendable, Hashable {
    /// Where a part of the settings comes from.
    public enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The profile says it.
        case profile
        /// The gateway pushed it.
        case push
        /// The profile's policy made it of what was pushed: a narrower route, an exclusion, another MTU, a blocked family.
        case policy
    }

    /// What a part of the settings is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case address, route, excludedRoute, server, searchDomain
        /// A domain that chooses the servers; `.` for all names.
        case matchDomain
        case mtu
    }

    /// One part of the settings in force.
    public struct Value: Sendable, Hashable {
        /// What it is.
        public var kind: Kind
        /// The part as text: a network, an address, a name, a number.
        public var text: String
        /// Where it comes from.
        public var origin: Origin

        /// Makes a part.
        public init(_ kind: Kind, _ text: String, _ origin: Origin) {
            self.kind = kind
            self.text = text
            self.origin = origin
        }
    }

    /// A snapshot that the filter saw, in force or not.
    public struct Offer: Sendable, Hashable {
        /// The gateway's number for it.
        public var serial: UInt64
        /// What was decided, in the order of the rules.
        public var decisions: [Decision]

        /// Makes an offer.
        public init(serial: UInt64, decisions: [Decision]) {
            self.serial = serial
            self.decisions = decisions
        }
    }

    /// How the last snapshot ended that did not come into force.
    public struct Failure: Sendable, Hashable {
        /// The gateway's number for it.
        public var serial: UInt64
        /// How it ended.
        public var status: SettingsResult.Status
        /// Why.
        public var findings: [SettingsFinding]

        /// Makes an end.
        public init(serial: UInt64, status: SettingsResult.Status, findings: [SettingsFinding]) {
            self.serial = serial
            self.status = status
            self.findings = findings
        }
    }

    /// Where the settings may come from.
    public var source: SettingsSource
    /// The profile's file, as the host was given it.
    public var file: String?
    /// The lines of the file that decide about pushed settings, by their names, from 1.
    public var lines: [String: Int] = [:]
    /// The gateway as a person knows it; nil where the profile alone decides.
    public var gateway: String?
    /// The number of the snapshot in force; nil while there is none.
    public var serial: UInt64?
    /// What is in force.
    public var values: [Value] = []
    /// What was offered last.
    public var offer: Offer?
    /// How the last snapshot ended that did not come into force.
    public var failure: Failure?
    /// What of the settings the machine cannot give its effect, or refused as a whole.
    public var shortfalls: [SettingsShortfall] = []
    /// How many accepted routes and values are left out, because a report has a largest size.
    public var leftOut = 0

    /// Begins a report.
    public init(source: SettingsSource) { self.source = source }
}
