import Foundation
import PacketPath
import ProviderKit
import Testing

@testable import HostRuntime

/// A worker in this process, with the manager's end of its channel and the far end of its device in the test's hands.
struct WorkerHarness {
    let manager: ManagerChannel
    /// The far end of the device: a packet socket in the place of the TUN.
    let wire: Descriptor
    let exitStatus: AsyncStream<Int32>

    /// Makes the worker and runs it on a thread of its own, as the process's main thread does.
    init(
        logLevel: LogLevel = .debug,
        make: @escaping @Sendable (any ProviderContext) throws -> any PacketTunnelProvider
    ) throws {
        let (manager, far) = try makeChannelPair()
        let (flow, wire) = try makePacketFlow()
        self.manager = manager
        self.wire = wire
        var configuration = Messages.configuration
        configuration.logLevel = logLevel
        configuration.protocolConfiguration.providerConfiguration = [:]
        let worker = try Worker(channel: WorkerChannel(far), configuration: configuration, flow: flow, make: make)
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        exitStatus = stream
        Thread { [worker] in
            continuation.yield(worker.run())
            continuation.finish()
        }.start()
    }

    /// The next message that is no log line, waiting at most ten seconds.
    func next() async throws -> WorkerMessage {
        try await first { message in
            if case .log = message { nil } else { message }
        }
    }

    /// The next log line, waiting at most ten seconds; other messages are left out.
    func nextLog() async throws -> String {
        try await first { message in
            if case .log(_, let text) = message { text } else { nil }
        }
    }

    private func first<Value: Sendable>(_ pick: @escaping @Sendable (WorkerMessage) -> Value?) async throws -> Value {
        try await onThread { [manager] in
            while true {
                switch try manager.receive() {
                case .message(let message, _):
                    if let value = pick(message) { return value }
                case .closed: throw ChannelError.closed
                case .wouldBlock:
                    try #require(
                        try ChannelSystem.waitToRead(manager.fileDescriptor, milliseconds: 10_000), "nothing came")
                }
            }
        }
    }

    /// Waits for the end of the worker.
    func status() async -> Int32? {
        for await status in exitStatus { return status }
        return nil
    }

    /// Sends a packet into the tunnel and waits for one that comes back, at most `milliseconds`.
    func exchange(_ packet: [UInt8], milliseconds: Int32 = 10_000) async throws -> [UInt8]? {
        try await onThread { [wire] in
            try WorkerPacketFlowTests.put(packet, on: wire)
            guard try ChannelSystem.waitToRead(wire.number, milliseconds: milliseconds) else { return nil }
            return try WorkerPacketFlowTests.take(from: wire)
        }
    }
}

/// A flow over a packet socket in the place of the TUN, and the socket's far end.
func makePacketFlow(offloads: TUNDevice.Offloads = []) throws -> (flow: TunPacketFlow, wire: Descriptor) {
    let (wire, device) = try ChannelSystem.socketPair()
    #expect(fcntl(device.number, F_SETFL, O_NONBLOCK) == 0)
    let flow = try TunPacketFlow(device: device, headerLength: 10) { device throws(PathError) in
        TUNDevice(packetSocket: dup(device.number), offloads: offloads)
    }
    return (flow, wire)
}

/// Runs what blocks on a thread of its own: on a small machine it would keep the tasks that it waits for from running.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}

/// A provider whose behaviour a test writes down.
final class ScriptedProvider: PacketTunnelProvider {
    let context: any ProviderContext
    private let onStart: (any ProviderContext, @escaping @Sendable ((any Error)?) -> Void) -> Void
    private let onStop: (ProviderStopReason, @escaping @Sendable () -> Void) -> Void
    private let onMessage: ([UInt8], (@Sendable ([UInt8]?) -> Void)?) -> Void

    init(
        _ context: any ProviderContext,
        onStart: @escaping (any ProviderContext, @escaping @Sendable ((any Error)?) -> Void) -> Void = { $1(nil) },
        onStop: @escaping (ProviderStopReason, @escaping @Sendable () -> Void) -> Void = { $1() },
        onMessage: @escaping ([UInt8], (@Sendable ([UInt8]?) -> Void)?) -> Void = { $1?($0.reversed()) }
    ) {
        self.context = context
        self.onStart = onStart
        self.onStop = onStop
        self.onMessage = onMessage
    }

    func startTunnel(
        options: [String: PropertyListValue]?, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        onStart(context, completionHandler)
    }

    func stopTunnel(with reason: ProviderStopReason, completionHandler: @escaping @Sendable () -> Void) {
        onStop(reason, completionHandler)
    }

    func handleAppMessage(_ messageData: [UInt8], completionHandler: (@Sendable ([UInt8]?) -> Void)?) {
        onMessage(messageData, completionHandler)
    }
}

/// Runs a program to its end and returns its exit status and all that it printed.
func runProgram(_ arguments: [String]) throws -> (status: Int32, output: String) {
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
