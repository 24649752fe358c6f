import ProviderKit
import SettingsPush
import Testing
import WireGuard

@testable import WireGuardProvider

/// What a tunnel tells of its settings.
@Suite("Reports of a profile")
struct SettingsReportTests {
    private let keys = (1...3).map { PrivateKey(Key256(words: SIMD4(repeating: UInt64($0)))) }

    private var text: String {
        """
        [Interface]
        # settings = pushPreferred
        PrivateKey = \(keys[0].base64)
        # acceptRoutes = 10.0.0.0/8

        [Peer]
        AllowedIPs = 10.9.0.0/16
        PublicKey = \(keys[1].publicKey.base64)
        [Peer]
        PublicKey = \(keys[2].publicKey.base64) # the gateway
        allowedips = 0.0.0.0/0
        AllowedIPs = ::/0
        Endpoint = 192.0.2.1:51820
        """
    }

    private func profile() throws -> PushProfile {
        let values: [String: PropertyListValue] = [
            TunnelProviderProtocol.configurationFileKey: "office.conf"
        ]
        let configuration = TunnelProviderProtocol(
            providerBundleIdentifier: "org.providerhost.wireguard", providerConfiguration: values)
        return try #require(try PushProfile(Configuration(wgQuick: text), text: text, configuration))
    }

    @Test("name the lines of the file that decide")
    func lines() throws {
        let profile = try profile()
        #expect(profile.lines == ["settingsSource": 2, "acceptRoutes": 4, "AllowedIPs": 11])
        #expect(profile.file == "office.conf")
        #expect(PushProfile.line("AllowedIPs", ofPeer: keys[1].publicKey, in: text) == 7)
        #expect(PushProfile.line("AllowedIPs", ofPeer: keys[0].publicKey, in: text) == nil)
    }

    @Test("tell what is in force before, with and without a gateway's word")
    func states() throws {
        let profile = try profile()
        var account = PushClient.Account()
        let bare = profile.report(account, shortfalls: [])
        #expect(bare.gateway == "192.0.2.1:51820" && bare.serial == nil && bare.offer == nil)
        #expect(bare.values.contains(.init(.route, "10.9.0.0/16", .profile)), "what goes to other peers")
        account.applied = .profile
        #expect(profile.report(account, shortfalls: []).values.contains(.init(.route, "0.0.0.0/0", .profile)))

        let snapshot = try Snapshot(
            addresses: [#require(AssignedAddress(.v4(0x0a00_0001), prefixLength: 24))],
            routes: ["10.3.0.0/16", "172.16.0.0/12"].map { try #require(IPPrefix($0)) }, excludes: [], dns: nil,
            mtu: 1380,
            notice: nil)
        let outcome = PolicyFilter(
            policy: profile.policy, context: profile.policyContext(HostNetworks(), endpoint: nil)
        ).filter(snapshot)
        let version = SnapshotVersion(epoch: 1, serial: 7, digest: 0)
        account.applied = .pushed(version, outcome)
        account.lastOffer = account.applied
        account.failure = SettingsResult(
            version: SnapshotVersion(epoch: 1, serial: 8, digest: 0), status: .failed,
            findings: [SettingsFinding(.applyFailed)])
        account.refusal = TunnelFailure(
            errorDomain: "", errorCode: 1, cause: "A route was refused.", remedy: "Allow it.")
        let known = SettingsShortfall(part: "mtu", cause: "Narrow.", remedy: "")
        let report = profile.report(account, shortfalls: [known])
        #expect(
            report.shortfalls == [
                known, SettingsShortfall(part: "serial 8", cause: "A route was refused.", remedy: "Allow it."),
            ])
        #expect(report.serial == 7 && report.offer?.serial == 7 && report.failure?.serial == 8)
        #expect(report.values.contains(.init(.route, "10.3.0.0/16", .push)))
        #expect(report.values.contains(.init(.mtu, "1380", .push)))
        #expect(!report.values.contains { $0.text == "172.16.0.0/12" })
        let answer = SettingsExplainer(report).why(try #require(IPPrefix("172.16.5.0/24")))
        #expect(answer.map(\.reason) == [.notInAcceptRoutes])
        #expect(answer.first?.description.hasSuffix("is now line 4 of office.conf.") == true)
    }

    @Test("of a profile that alone decides hold its own values")
    func alone() throws {
        let report = SettingsReport(try Configuration(wgQuick: text), file: "office.conf", shortfalls: [])
        #expect(report.source == .static && report.gateway == nil)
        #expect(report.values.allSatisfy { $0.origin == .profile } && report.values.count == 3)
    }
}
