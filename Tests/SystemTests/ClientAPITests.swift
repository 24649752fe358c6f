@testable import Control
import Foundation
import ProviderKit
import Testing

/// The client API against a manager: the traps of the documents, and nothing worse.
@Suite(
    "Client API", .serialized, .timeLimit(.minutes(2)), .enabled(if: isRoot, "needs root for namespaces"))
struct ClientAPITests {
    /// Saves a configuration of the loopback provider and loads it again.
    private func saved(_ client: ManagerClient, number: Int = 99) async throws -> TunnelProviderManager {
        _ = try await TunnelProviderManager.loadAllFromPreferences(client: client)
        let manager = TunnelProviderManager(client: client)
        manager.protocolConfiguration = TunnelProviderProtocol(
            providerBundleIdentifier: "org.providerhost.loopback", serverAddress: "label",
            providerConfiguration: [
                "IPv4Address": .string("10.\(number).0.1"), "IPv6Address": .string("fd\(number)::1"),
            ])
        manager.localizedDescription = "test"
        manager.isEnabled = true
        try await manager.saveToPreferences()
        try await manager.loadFromPreferences()
        return manager
    }

    /// Waits until the status is `status`.
    private func wait(for status: VPNStatus, _ session: TunnelProviderSession) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while session.status != status {
            guard ContinuousClock.now < deadline else {
                throw LabError("waited 10 s in vain for \(status); it is \(session.status)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func expect<Value>(_ code: VPNErrorCode, _ body: () async throws -> Value) async {
        do {
            _ = try await body()
            Issue.record("nothing was thrown, not \(code)")
        } catch let error as VPNError {
            #expect(error.code == code, "\(error)")
            #expect(!error.cause.isEmpty)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("S1, S18: nothing is known before the first load, and nothing can be saved")
    func beforeLoad() async throws {
        try await DaemonLab.run { host in
            let client = host.client()
            let manager = TunnelProviderManager(client: client)
            #expect(manager.protocolConfiguration == nil && manager.connection.status == .invalid)
            manager.protocolConfiguration = TunnelProviderProtocol(
                providerBundleIdentifier: "org.providerhost.loopback", serverAddress: "label")
            await expect(.configurationStale) { try await manager.saveToPreferences() }
            await expect(.configurationInvalid) { try manager.connection.startVPNTunnel() }
            #expect(try await TunnelProviderManager.loadAllFromPreferences(client: client).isEmpty)
            try await manager.saveToPreferences()
            #expect(manager.connection.status == .invalid)
            // S4: what was saved and not loaded is not what a start would mean.
            await expect(.configurationStale) { try manager.connection.startVPNTunnel() }
            try await manager.loadFromPreferences()
            #expect(manager.connection.status == .invalid, "a disabled configuration")
            await expect(.configurationDisabled) { try manager.connection.startVPNTunnel() }
        }
    }

    @Test("S2, S5: accepted is not connected; changes are observed, in order, each once")
    func statusChanges() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            #expect(manager.connection.status == .disconnected)
            let changes = manager.connection.statusChanges
            try manager.connection.startVPNTunnel()
            #expect(manager.connection.status != .connected)
            try await wait(for: .connected, manager.connection)
            #expect(manager.connection.connectedDate != nil)
            #expect(throws: (any Error).self) { try manager.connection.startVPNTunnel() }
            manager.connection.stopVPNTunnel()
            try await wait(for: .disconnected, manager.connection)
            #expect(manager.connection.connectedDate == nil)
            try await manager.connection.fetchLastDisconnectError()
            var seen: [VPNStatus] = []
            for await status in changes {
                seen.append(status)
                if status == .disconnected { break }
            }
            #expect(seen == [.connecting, .connected, .disconnecting, .disconnected])
        }
    }

    @Test("S5: an error of the provider comes by the status, and is kept")
    func providerError() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            var provider = try #require(manager.protocolConfiguration)
            provider.providerConfiguration["IPv4Address"] = 7
            manager.protocolConfiguration = provider
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
            let changes = manager.connection.statusChanges
            try manager.connection.startVPNTunnel()
            for await status in changes where status == .disconnected { break }
            let error = await #expect(throws: TunnelFailure.self) {
                try await manager.connection.fetchLastDisconnectError()
            }
            #expect(error?.errorDomain == VPNConnectionErrorCode.domain)
            #expect(error?.cause.contains("IPv4Address") == true)
        }
    }

    @Test("S7: a foreign save is told; the manager is stale until its next load")
    func foreignSave() async throws {
        try await DaemonLab.run { host in
            let mine = try await saved(host.client())
            let changes = try TunnelProviderManager.configurationChanges(client: host.client())
            let theirs = try #require(
                try await TunnelProviderManager.loadAllFromPreferences(client: host.client()).first)
            theirs.localizedDescription = "theirs"
            try await theirs.saveToPreferences()
            for await identifier in changes {
                #expect(identifier == mine.identifier)
                break
            }
            #expect(mine.localizedDescription == "test")
            await expect(.configurationStale) { try mine.connection.startVPNTunnel() }
            mine.localizedDescription = "mine"
            await expect(.configurationStale) { try await mine.saveToPreferences() }
            try await mine.loadFromPreferences()
            #expect(mine.localizedDescription == "theirs")
            try mine.connection.startVPNTunnel()
            try await wait(for: .connected, mine.connection)
        }
    }

    @Test("S3: another launch of the application finds the tunnel that the first one started")
    func relaunch() async throws {
        try await DaemonLab.run { host in
            do {
                let first = try await saved(host.client())
                try first.connection.startVPNTunnel()
                try await wait(for: .connected, first.connection)
            }
            let second = try #require(
                try await TunnelProviderManager.loadAllFromPreferences(client: host.client()).first)
            #expect(second.connection.status == .connected)
            // S10: a stop names one configuration.
            let other = try await saved(host.client(), number: 98)
            other.connection.stopVPNTunnel()
            #expect(second.connection.status == .connected)
        }
    }

    @Test("S20: an application sees its own configurations only")
    func applications() async throws {
        try await DaemonLab.run { host in
            _ = try await saved(host.client("com.example.one"))
            let other = host.client("com.example.two")
            #expect(try await TunnelProviderManager.loadAllFromPreferences(client: other).isEmpty)
            #expect(
                try await TunnelProviderManager.loadAllFromPreferences(client: host.client("com.example.one")).count
                    == 1)
        }
    }

    @Test("T13: an unknown provider, and a start after a save without a load, are refused at once")
    func refusedStarts() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            manager.protocolConfiguration?.providerBundleIdentifier = "org.providerhost.loopbcak"
            try await manager.saveToPreferences()
            await expect(.configurationStale) { try manager.connection.startVPNTunnel() }
            try await manager.loadFromPreferences()
            await expect(.configurationInvalid) { try manager.connection.startVPNTunnel() }
            do {
                try manager.connection.startVPNTunnel()
            } catch let error as VPNError {
                #expect(
                    "\(error)".contains("org.providerhost.loopback"), "the closest installed one is named: \(error)")
            }
            #expect(manager.connection.status == .disconnected)
        }
    }

    @Test("T14: a stop while connecting wins, and an order that undoes a stop is warned of at the save")
    func stopWins() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            manager.onDemandRules = [OnDemandRule(.connect), OnDemandRule(.disconnect, interfaceTypeMatch: .wiFi)]
            try await manager.saveToPreferences()
            #expect(manager.warnings.contains { $0.contains("Put rule 2 before rule 1") }, "\(manager.warnings)")
            try await manager.loadFromPreferences()
            for _ in 0..<5 {
                try manager.connection.startVPNTunnel()
                manager.connection.stopVPNTunnel()
                try eventually("the end of the session") {
                    try host.object("status", "test")["status"] as? String == "disconnected"
                }
                try await manager.connection.fetchLastDisconnectError()
                #expect(host.daemon.childProcesses().isEmpty)
            }
        }
    }

    @Test("T13: disabling and removing stop the tunnel with their reasons")
    func disabledAndRemoved() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            try manager.connection.startVPNTunnel()
            try await wait(for: .connected, manager.connection)
            manager.isEnabled = false
            try await manager.saveToPreferences()
            try await wait(for: .invalid, manager.connection)
            try await manager.loadFromPreferences()
            await expect(.configurationDisabled) { try manager.connection.startVPNTunnel() }
            manager.isEnabled = true
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
            try manager.connection.startVPNTunnel()
            try await wait(for: .connected, manager.connection)
            try await manager.removeFromPreferences()
            #expect(manager.localizedDescription == "test", "the values stay until the next load")
            try await wait(for: .invalid, manager.connection)
            await expect(.configurationInvalid) { try await manager.loadFromPreferences() }
            #expect(manager.localizedDescription == nil)
        }
    }

    @Test("T17: a message to a stopped tunnel is an error at once; to a running one it gets the provider's answer")
    func messages() async throws {
        try await DaemonLab.run { host in
            let manager = try await saved(host.client())
            await #expect(throws: TunnelFailure.self) { try await manager.connection.sendProviderMessage([1]) }
            try manager.connection.startVPNTunnel()
            try await wait(for: .connected, manager.connection)
            #expect(try await manager.connection.sendProviderMessage([1]) == nil)
        }
    }

    @Test("S12: an application has one personal VPN: a second save replaces the first, a bad one changes nothing")
    func personal() async throws {
        try await DaemonLab.run { host in
            let manager = VPNManager(client: host.client())
            await expect(.configurationStale) { try await manager.saveToPreferences() }
            try await manager.loadFromPreferences()
            #expect(manager.protocolConfiguration == nil && manager.connection.status == .invalid)
            var ikev2 = VPNProtocolIKEv2()
            ikev2.serverAddress = "vpn.example.com"
            ikev2.useExtendedAuthentication = true
            manager.protocolConfiguration = .ikev2(ikev2)
            manager.isEnabled = true
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
            ikev2.serverAddress = "second.example.com"
            manager.protocolConfiguration = .ikev2(ikev2)
            try await manager.saveToPreferences()
            var broken = ikev2
            broken.serverAddress = nil
            manager.protocolConfiguration = .ikev2(broken)
            await expect(.configurationInvalid) { try await manager.saveToPreferences() }
            let other = VPNManager(client: host.client())
            try await other.loadFromPreferences()
            #expect(other.protocolConfiguration?.common.serverAddress == "second.example.com")
            // Nothing here speaks IKEv2, and the start says so.
            await expect(.configurationInvalid) { try other.connection.startVPNTunnel() }
            #expect(try await TunnelProviderManager.loadAllFromPreferences(client: host.client()).isEmpty)
            #expect(throws: VPNError.self) { try ProtocolConfiguration(protocolName: "L2TP") }
        }
    }

    @Test("Without a manager, requests fail as they do without access to the preferences")
    func noManager() async throws {
        let client = ManagerClient(application: "a", socketPath: "/nonexistent/manager")
        await expect(.configurationReadWriteFailed) {
            try await TunnelProviderManager.loadAllFromPreferences(client: client)
        }
    }
}
