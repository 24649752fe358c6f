import ProviderKit
import Testing

@testable import HostRuntime

/// One value of every message of the protocol.
enum Messages {
    static let failure = TunnelFailure(errorDomain: "d", errorCode: 7, cause: "It broke.", remedy: "Mend it.")
    static let configuration = WorkerConfiguration(
        bundlePath: "/b", executablePath: "/b/lib.so", principalClass: "M.P",
        protocolConfiguration: TunnelProviderProtocol(
            providerBundleIdentifier: "com.example.tunnel", serverAddress: "h",
            providerConfiguration: [
                "s": "text\u{0}\u{1F510}", "i": .integer(.min), "r": .real(.infinity), "b": true, "d": .data([0, 255]),
                "a": .array([1, "x"]), "m": .dictionary(["k": .array([])]),
            ], disconnectOnSleep: true),
        interfaceName: "phtun0", isOnDemand: true, virtualHeaderLength: 10, mtu: 1420, logLevel: .debug)

    static var settings: PacketTunnelNetworkSettings {
        var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "192.0.2.1")
        settings.ipv4Settings = IPv4Settings(addresses: ["10.0.0.2"], subnetMasks: ["255.255.255.0"])
        settings.ipv4Settings?.includedRoutes = [.default()]
        settings.ipv6Settings = IPv6Settings(addresses: ["fd00::2"], networkPrefixLengths: [64])
        settings.ipv6Settings?.excludedRoutes = [.default()]
        settings.dnsSettings = DNSSettings(servers: ["10.0.0.1"])
        settings.proxySettings = ProxySettings()
        settings.mtu = 1400
        settings.routing = .table(51820)
        return settings
    }

    static let toWorker: [ManagerMessage] = [
        .configure(configuration), .start(options: nil), .start(options: [:]), .start(options: ["k": 1]),
        .stop(.superceded), .settingsCompleted(id: 1, nil), .settingsCompleted(id: .max, failure),
        .udpSockets(id: 2, .opened(port: 51820, hasIPv4: true, hasIPv6: true)),
        .udpSockets(id: 3, .opened(port: 1, hasIPv4: false, hasIPv6: true)), .udpSockets(id: 4, .failed(failure)),
        .appMessage(id: 5, [], wantsReply: true), .appMessage(id: 6, [1, 2, 3], wantsReply: false), .sleep(id: 7),
        .hookCompleted(id: 8, nil), .hookCompleted(id: 9, failure), .controlConnection(id: 10),
        .wake, .hostNetworks(HostNetworks()),
        .hostNetworks(
            HostNetworks(
                addresses: [.init(interface: "eth0", address: "192.0.2.2", prefixLength: 24, mtu: 1500)],
                defaultRouteMTU: 1500)),
        .settingsShortfalls([]), .settingsShortfalls([SettingsShortfall(part: "mtu", cause: "Narrow.", remedy: "")]),
    ]
    static let toManager: [WorkerMessage] = [
        .ready, .failed(failure), .startCompleted(nil), .startCompleted(failure), .stopCompleted, .cancelled(nil),
        .cancelled(failure), .reasserting(true), .reasserting(false), .setSettings(id: 1, nil),
        .setSettings(id: 2, settings), .openUDPSockets(id: 3, UDPSocketRequest(port: 0, mark: nil)),
        .openUDPSockets(id: 4, UDPSocketRequest(port: 9, mark: 0xffff_ffff)), .appMessageReply(id: 5, nil),
        .appMessageReply(id: 6, []), .appMessageReply(id: 7, [9]), .sleepCompleted(id: 8),
        .controlActivity(id: 8, .waiting), .controlActivity(id: 8, .working), .controlActivity(id: 8, .closed),
        .observeHostNetworks, .runHook(id: 9, "ip link show"), .log(.warning, "line"),
    ]
}

@Suite("Channel messages") struct ChannelMessageTests {
    @Test("Every message to the worker arrives as it was sent", arguments: Messages.toWorker)
    func roundTrip(message: ManagerMessage) throws {
        let (manager, far) = try makeChannelPair()
        let worker = WorkerChannel(far)
        let descriptors = try (0..<message.descriptorCount).map { _ in try ChannelSystem.sealedMemory([1]) }
        try manager.send(message, descriptors: descriptors)
        let (received, arrived) = try #require(try worker.receiveWaiting())
        #expect(received == message)
        #expect(arrived.count == message.descriptorCount)
    }

    @Test("Every message to the manager arrives as it was sent", arguments: Messages.toManager)
    func roundTrip(message: WorkerMessage) throws {
        let (manager, far) = try makeChannelPair()
        try WorkerChannel(far).send(message)
        let (received, descriptors) = try #require(try manager.receiveWaiting())
        #expect(received == message)
        #expect(descriptors.isEmpty)
    }

    @Test("No kind is used twice")
    func kindsAreDistinct() {
        let pairs =
            Messages.toWorker.map { ($0.kind, "\($0)".prefix { $0 != "(" }) }
            + Messages.toManager.map { ($0.kind, "\($0)".prefix { $0 != "(" }) }
        for (kind, name) in pairs {
            #expect(pairs.allSatisfy { $0.0 != kind || $0.1 == name }, "kind \(kind)")
        }
    }

    @Test("An app message of 1 MiB arrives whole, both ways")
    func largeAppMessage() throws {
        let (manager, far) = try makeChannelPair()
        let worker = WorkerChannel(far)
        let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try manager.send(.appMessage(id: 1, bytes, wantsReply: true))
        #expect(try worker.receiveWaiting()?.message == .appMessage(id: 1, bytes, wantsReply: true))
        try worker.send(.appMessageReply(id: 1, bytes))
        #expect(try manager.receiveWaiting()?.message == .appMessageReply(id: 1, bytes))
    }

    @Test("Settings with 130,560 routes arrive whole")
    func manyRoutes() throws {
        let (manager, far) = try makeChannelPair()
        var settings = Messages.settings
        settings.ipv4Settings?.includedRoutes = (0..<65_280).map {
            IPv4Route(destinationAddress: "10.\($0 >> 8).\($0 & 255).0", subnetMask: "255.255.255.0")
        }
        settings.ipv6Settings?.includedRoutes = (0..<65_280).map {
            IPv6Route(destinationAddress: "fd00:\(String($0, radix: 16))::", networkPrefixLength: 32)
        }
        try WorkerChannel(far).send(.setSettings(id: 1, settings))
        #expect(try manager.receiveWaiting()?.message == .setSettings(id: 1, settings))
    }

    @Test("A body over the limit is refused by the sender")
    func bodyOverLimit() throws {
        let (manager, _) = try makeChannelPair()
        let bytes = [UInt8](repeating: 0, count: Frame.bodyLimit + 1)
        #expect(throws: ChannelError.bodyTooLong(bytes.count)) {
            try manager.send(.appMessage(id: 1, bytes, wantsReply: false))
        }
    }
}
