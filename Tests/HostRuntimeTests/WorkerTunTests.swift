import CTun
import Foundation
import ProviderKit
import Testing

@testable import HostRuntime
@testable import LoopbackProvider

/// The kernel's own ping through a real TUN, in a network namespace that ends with its thread and device.
@Suite("Worker on a real TUN", .timeLimit(.minutes(1))) struct WorkerTunTests {
    static let isRoot = geteuid() == 0

    /// Runs a program on the calling thread, in its network namespace.
    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Runs `body` on a thread with a network namespace of its own.
    static func inNamespace<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        try #require(unshare(CLONE_NEWNET) == 0, "no network namespace")
                        return try body()
                    })
            }.start()
        }
    }

    /// Opens a TUN in the namespace of the calling thread.
    static func openDevice() throws -> Descriptor {
        var name = [CChar](repeating: 0, count: Int(CTUN_NAME_SIZE.rawValue))
        for (index, byte) in "phtest0".utf8.enumerated() { name[index] = CChar(bitPattern: byte) }
        let descriptor = unsafe ctun_tun_open(&name, true)
        try #require(descriptor >= 0, "no TUN device: \(descriptor)")
        return Descriptor(adopting: descriptor)
    }

    @Test("ping and ping -6 of many sizes are answered through the flow", .enabled(if: isRoot, "needs root"))
    func ping() async throws {
        let output = try await Self.inNamespace {
            let device = try Self.openDevice()
            let flow = try TunPacketFlow(device: device, headerLength: 10)
            for command in [
                ["ip", "link", "set", "phtest0", "up", "mtu", "1500"],
                ["ip", "address", "add", "10.99.0.1/24", "dev", "phtest0"],
                ["ip", "-6", "address", "add", "fd99::1/64", "dev", "phtest0", "nodad"],
            ] {
                let (status, text) = try Self.run(command)
                try #require(status == 0, "\(command): \(text)")
            }
            let loop = Task.detached {
                while var batch = try? await flow.readPackets() {
                    for index in 0..<batch.count {
                        var packet = batch.mutablePacket(at: index)
                        if !LoopbackProvider.answer(&packet) { batch.setLength(0, at: index) }
                    }
                    guard (try? flow.writePackets(batch)) != nil else { return }
                }
            }
            defer {
                loop.cancel()
                flow.close()
            }
            var text = ""
            for (address, size) in [
                ("10.99.0.2", "56"), ("10.99.0.200", "1472"), ("fd99::2", "57"), ("fd99::2", "1452"),
            ] {
                let (status, output) = try Self.run(
                    ["ping", "-c", "20", "-i", "0.002", "-W", "2", "-s", size, address])
                #expect(status == 0, "\(output)")
                text += output
            }
            #expect(flow.drops == TunPacketFlow.Drops())
            return text
        }
        #expect(output.components(separatedBy: "20 received").count == 5, "\(output)")
    }

    @Test("A deleted interface ends the reader with an error, not a loop", .enabled(if: isRoot, "needs root"))
    func deletedInterface() async throws {
        let flow = try await Self.inNamespace {
            let device = try Self.openDevice()
            let flow = try TunPacketFlow(device: device, headerLength: 10)
            _ = try Self.run(["ip", "link", "set", "phtest0", "up"])
            let (status, text) = try Self.run(["ip", "link", "delete", "phtest0"])
            try #require(status == 0, "\(text)")
            return flow
        }
        defer { flow.close() }
        await #expect(throws: PacketFlowError.system(EBADFD)) { while true { _ = try await flow.readPackets() } }
    }
}
