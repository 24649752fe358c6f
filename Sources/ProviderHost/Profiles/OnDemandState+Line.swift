internal import Control
internal import Foundation
internal import HostRuntime

extension OnDemandState {
    /// What the rules came to, for people.
    var line: String {
        var parts = [reason]
        if let time { parts.append("Decided \(Self.text(time)).") }
        if let network { parts.append("The network: \(network.line).") }
        if failures > 0 { parts.append("Not started, or ended by itself, \(failures) times in a row.") }
        if let nextStart { parts.append("Started again \(Self.text(nextStart)).") }
        return parts.joined(separator: " ").printable
    }

    private static func text(_ time: Double) -> String {
        Date(timeIntervalSince1970: time).formatted(.iso8601)
    }
}

extension OnDemandState.Network {
    fileprivate var line: String {
        let parts = [
            interface.map { "\($0) (\(type ?? ""))" } ?? "none", ssid.map { "Wi-Fi \($0)" },
            dnsServers.isEmpty ? nil : "DNS \(dnsServers.joined(separator: " "))",
            searchDomains.isEmpty ? nil : "search \(searchDomains.joined(separator: " "))",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}
