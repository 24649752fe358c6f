internal import ProviderKit

extension ProviderPackage {
    /// The version of the contract that the package is written for: that of this host.
    var contractVersion: String { ProviderModule.contractVersion }

    /// The provider: the one place of the template with a pointer is the factory that the host calls.
    var providerSource: String {
        #"""
        import ProviderKit
        import Synchronization

        /// Sends every packet back with source and destination exchanged.
        public final class \#(moduleName): AsyncPacketTunnelProvider {
            private let context: any ProviderContext
            private let reading = Mutex<Task<Void, Never>?>(nil)

            public init(context: any ProviderContext) {
                self.context = context
            }

            /// Brings the tunnel up: connect to the server here, then apply the settings that it gives.
            public func startTunnel(options: [String: PropertyListValue]?) async throws {
                var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "192.0.2.2")
                settings.ipv4Settings = IPv4Settings(addresses: ["192.0.2.1"], subnetMasks: ["255.255.255.0"])
                settings.mtu = 1400
                try await context.setTunnelNetworkSettings(settings)

                let context = context
                reading.withLock { $0 = Task { await Self.reflect(context) } }
            }

            /// Tears the tunnel down: say good-bye to the server here.
            public func stopTunnel(with reason: ProviderStopReason) async {
                context.log(.info, "stopping: \(reason)")
                let task = reading.withLock { $0.take() }
                task?.cancel()
                await task?.value
            }

            /// Reads batches until the flow closes, which is how a tunnel ends.
            private static func reflect(_ context: any ProviderContext) async {
                do {
                    while !Task.isCancelled {
                        var batch = try await context.packetFlow.readPackets()
                        for index in 0..<batch.count {
                            var packet = batch.mutablePacket(at: index)
                            packet.withUnsafeMutableBytes(exchangeAddresses)
                        }
                        try context.packetFlow.writePackets(batch)
                    }
                } catch PacketFlowError.closed {
                    return
                } catch {
                    context.cancelTunnelWithError(error)
                }
            }

            /// Exchanges source and destination, which leaves every checksum as it is (RFC 791, RFC 8200).
            static func exchangeAddresses(_ packet: UnsafeMutableRawBufferPointer) {
                let (start, length) =
                    switch packet.first.map({ $0 >> 4 }) {
                    case 4 where packet.count >= 20: (12, 4)
                    case 6 where packet.count >= 40: (8, 16)
                    default: (0, 0)
                    }
                for index in start..<(start + length) { packet.swapAt(index, index + length) }
            }
        }

        /// The entry point that the host looks up in the library.
        @c(providerhost_create_\#(moduleName))
        public func createProvider(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
            ProviderModule.create(context) { \#(moduleName)(context: $0) }
        }

        """#
    }

    /// The tests of the provider.
    var testSource: String {
        #"""
        import ProviderKit
        import ProviderTestKit
        import Testing

        @testable import \#(moduleName)

        /// A UDP packet from 192.0.2.1 to 192.0.2.7 without payload.
        private let packet: [UInt8] = [
            0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0xB6, 0xC8, 192, 0, 2, 1, 192, 0, 2, 7,
            0x30, 0x39, 0, 9, 0, 8, 0, 0,
        ]

        @Test("A start puts the settings in force")
        func start() async throws {
            let context = TestProviderContext()
            let provider = \#(moduleName)(context: context)
            try await provider.startTunnel(options: nil)
            #expect(context.settings?.ipv4Settings?.addresses == ["192.0.2.1"])
            #expect(context.settings?.mtu == 1400)
            await provider.stopTunnel(with: .userInitiated)
        }

        @Test("A packet comes back with its addresses exchanged and nothing else changed")
        func reflection() async throws {
            let context = TestProviderContext()
            let provider = \#(moduleName)(context: context)
            try await provider.startTunnel(options: nil)
            context.flow.inject(packet)
            let answer = try #require(await context.flow.nextWrittenPacket())
            #expect(Array(answer[12..<16]) == [192, 0, 2, 7])
            #expect(Array(answer[16..<20]) == [192, 0, 2, 1])
            #expect(answer[..<12] == packet[..<12] && answer[20...] == packet[20...])
            await provider.stopTunnel(with: .userInitiated)
        }

        @Test("Settings that the host refuses fail the start")
        func refusedSettings() async {
            let context = TestProviderContext()
            context.failNextSettings(with: TunnelProviderError(.networkSettingsFailed))
            let provider = \#(moduleName)(context: context)
            await #expect(throws: TunnelProviderError.self) { try await provider.startTunnel(options: nil) }
            #expect(context.settings == nil)
        }

        @Test("A stopped provider reads no more and holds no packet")
        func stop() async throws {
            let context = TestProviderContext()
            let provider = \#(moduleName)(context: context)
            try await provider.startTunnel(options: nil)
            context.flow.inject(packet)
            _ = await context.flow.nextWrittenPacket()
            await provider.stopTunnel(with: .userInitiated)
            #expect(context.flow.lentCount == 0)
            context.flow.inject(packet)
            context.flow.close()
            #expect(await context.flow.nextWrittenPacket() == nil)
            #expect(context.cancellations.isEmpty)
        }

        """#
    }
}
