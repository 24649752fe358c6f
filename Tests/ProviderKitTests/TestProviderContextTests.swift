import ProviderKit
import ProviderTestKit
import Testing

@Suite("Test context")
struct TestProviderContextTests {
    private func settings(_ mtu: Int) -> PacketTunnelNetworkSettings {
        var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "192.0.2.1")
        settings.mtu = mtu
        return settings
    }

    @Test("Settings are recorded; a failure leaves the earlier ones in force")
    func failures() async throws {
        let context = TestProviderContext()
        try await context.setTunnelNetworkSettings(settings(1400))
        context.failNextSettings(with: TunnelProviderError(.networkSettingsFailed))
        await #expect(throws: TunnelProviderError(.networkSettingsFailed)) {
            try await context.setTunnelNetworkSettings(settings(1300))
        }
        #expect(context.settings == settings(1400))
        try await context.setTunnelNetworkSettings(nil)
        #expect(context.settings == nil)
        #expect(context.settingsRequests == [settings(1400), settings(1300), nil])
    }

    @Test("Overlapping requests complete in the order of the calls")
    func order() async {
        let context = TestProviderContext()
        let seen = Recorder<Int>()
        await withCheckedContinuation { done in
            for mtu in 1280..<1480 {
                context.setTunnelNetworkSettings(settings(mtu)) { error in
                    #expect(error == nil)
                    seen.add(mtu)
                    if mtu == 1479 { done.resume() }
                }
            }
        }
        #expect(seen.all == Array(1280..<1480))
        #expect(context.settings == settings(1479))
    }

    @Test("Cancel, reasserting, log and hooks are recorded")
    func records() async throws {
        let context = TestProviderContext()
        context.reasserting = true
        context.reasserting = true
        context.reasserting = false
        #expect(context.reassertingChanges == [true, false])
        context.cancelTunnelWithError(nil)
        context.cancelTunnelWithError(VPNConnectionError(.serverDead))
        #expect(context.cancellations.map { ($0 as? VPNConnectionError)?.code } == [nil, .serverDead])
        context.log(.info, "up")
        #expect(context.log == [.init(.info, "up")])
        try await context.runHook("true")
        context.serveHooks { _ in VPNConnectionError(.configurationFailed) }
        await #expect(throws: VPNConnectionError.self) { try await context.runHook("false") }
        #expect(context.hooks == ["true", "false"])
    }

    @Test("UDP sockets come from the test's script, and fail without one")
    func sockets() async throws {
        let context = TestProviderContext()
        let request = UDPSocketRequest(port: 51_820, mark: nil)
        await #expect(throws: TunnelProviderError.self) { _ = try await context.openUDPSockets(request) }
        context.serveUDPSockets { .success(UDPSockets(ipv4: 3, ipv6: nil, port: $0.port)) }
        #expect(try await context.openUDPSockets(request).port == 51_820)
    }
}
