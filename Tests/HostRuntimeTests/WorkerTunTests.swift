import CTun
import Foundation
import ProviderKit
import Testing

@testable import HostRuntime
@testable import LoopbackProvider

/// The kernel's own ping through a real TUN, in a network namespace of its own.
@Suite("Worker on a real TUN", .serialized, .timeLimit(.minutes(1))) struct WorkerTunTests {
    static let isRoot = geteuid() == 0

    /// A network namespace with a TUN device that this process holds; removed with the value.
    final class Namespace: Sendable {
        static let device = "phtest\(getpid() % 100_000)"
        let name: String
        let tun: Descriptor

        init(_ purpose: String) throws {
            name = "phtest-\(purpose)-\(getpid())"
            var buffer = [CChar](repeating: 0, count: 16)
            for (index, byte) in Self.device.utf8.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            let descriptor = unsafe ctun_tun_open(&buffer, true)
            try #require(descriptor >= 0, "no TUN device: \(descriptor)")
            tun = Descriptor(adopting: descriptor)
            try Self.checked(["ip", "netns", "add", name])
            // The device is made here, down, and moved at once: its packets are the namespace's alone.
            try Self.checked(["ip", "link", "set", Self.device, "netns", name])
        }

        deinit { _ = try? runProgram(["ip", "netns", "delete", name]) }

        /// Runs a program in the namespace.
        @discardableResult
        func checked(_ arguments: [String]) async throws -> String {
            try await onThread { [name] in try Self.checked(["ip", "netns", "exec", name] + arguments) }
        }

        @discardableResult
        private static func checked(_ arguments: [String]) throws -> String {
            let (status, output) = try runProgram(arguments)
            try #require(status == 0, "\(arguments.joined(separator: " ")): \(output)")
            return output
        }
    }

    /// Answers packets until the flow is closed.
    static func answer(_ flow: TunPacketFlow) async {
        while var batch = try? await flow.readPackets() {
            for index in 0..<batch.count {
                var packet = batch.mutablePacket(at: index)
                if !LoopbackProvider.answer(&packet) { batch.setLength(0, at: index) }
            }
            guard (try? flow.writePackets(batch)) != nil else { return }
        }
    }

    @Test("ping and ping -6 of many sizes are answered through the flow", .enabled(if: isRoot, "needs root"))
    func ping() async throws {
        let namespace = try Namespace("ping")
        let flow = try TunPacketFlow(device: namespace.tun, headerLength: 10)
        for command in [
            "ip link set \(Namespace.device) up mtu 1500", "ip address add 10.99.0.1/24 dev \(Namespace.device)",
            "ip -6 address add fd99::1/64 dev \(Namespace.device) nodad",
        ] {
            try await namespace.checked(command.components(separatedBy: " "))
        }
        let loop = Task.detached { await Self.answer(flow) }
        defer {
            loop.cancel()
            flow.close()
        }
        for target in ["-s 56 10.99.0.2", "-s 1472 10.99.0.200", "-s 57 fd99::2", "-s 1452 fd99::2"] {
            let output = try await namespace.checked(
                "ping -c 20 -i 0.002 -W 2 \(target)".components(separatedBy: " "))
            #expect(output.contains("20 received"), "\(output)")
        }
        #expect(flow.drops == TunPacketFlow.Drops())
    }

    @Test("A deleted interface ends the reader with an error, not a loop", .enabled(if: isRoot, "needs root"))
    func deletedInterface() async throws {
        let namespace = try Namespace("deleted")
        let flow = try TunPacketFlow(device: namespace.tun, headerLength: 10)
        defer { flow.close() }
        try await namespace.checked(["ip", "link", "set", Namespace.device, "up"])
        let reader = Task { () -> PacketFlowError? in
            while true {
                do { _ = try await flow.readPackets() } catch { return error as? PacketFlowError }
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        try await namespace.checked(["ip", "link", "delete", Namespace.device])
        #expect(await reader.value == .system(EBADFD))
    }
}
