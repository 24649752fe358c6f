internal import Foundation
internal import ProviderKit
internal import Synchronization

/// The way of one application to the manager: a connection per call, so that nothing of the client has to be kept.
public final class ManagerClient: Sendable {
    /// How long the manager may take for an answer; it gives a provider 10 s for a message.
    static let patience = 30
    /// The application that configurations and secrets of a tool belong to.
    public static let toolName = "org.providerhost.tool"
    /// The longest reply.
    static let replyLimit = 256 << 20

    /// The client of this process: the manager of the machine, and the executable's name as the application.
    public static let shared = ManagerClient(
        application: (CommandLine.arguments.first ?? "application").split(separator: "/").last.map(String.init)
            ?? "application")

    /// The application whose configurations are seen and made; nil for those of every application.
    public let application: String?
    /// The path of the control socket.
    public let socketPath: String
    /// What is known of all sessions.
    let monitor: SessionMonitor
    private let hasLoaded = Atomic<Bool>(false)

    /// Makes a client; nothing is connected.
    ///
    /// - Parameters:
    ///   - application: The name of the application, such as `com.example.app`; nil for a tool that sees every one.
    ///   - socketPath: The control socket; nil for the one that the environment names.
    public init(application: String?, socketPath: String? = nil) {
        self.application = application
        let path = socketPath ?? ControlLocation.socketPath(ProcessInfo.processInfo.environment)
        self.socketPath = path
        monitor = SessionMonitor(socketPath: path, application: application)
    }

    deinit { monitor.stop() }

    /// Asks what answers on the socket.
    public func serviceInfo() throws -> VarlinkService.Info {
        try Self.call(socketPath, VarlinkService.getInfo, NoParameters(), reply: VarlinkService.Info.self)
    }

    /// Calls a method and waits for its reply on the calling thread.
    ///
    /// - Throws: ``ControlError``, or the manager's refusal as a `TunnelFailure`.
    public func call<Reply: Decodable>(
        _ method: ManagerMethod, _ parameters: some Encodable, reply: Reply.Type
    ) throws -> Reply {
        try Self.call(socketPath, method.qualifiedName, parameters, reply: reply)
    }

    /// Calls a method without holding up the caller's thread.
    public func call<Reply: Decodable & Sendable>(
        _ method: ManagerMethod, _ parameters: some Encodable & Sendable, reply: Reply.Type
    ) async throws -> Reply {
        let path = socketPath
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result { try Self.call(path, method.qualifiedName, parameters, reply: reply) })
            }
        }
    }

    /// Calls a method that streams, and gives what each reply after the first one brings, on a thread of its own.
    func stream<Reply: Decodable & Sendable, Element: Sendable>(
        _ method: ManagerMethod, _ parameters: some Encodable, reply: Reply.Type,
        _ elements: @escaping @Sendable (Reply) -> [Element]
    ) throws -> AsyncStream<Element> {
        let socket = try ClientSocket(path: socketPath)
        try socket.send(try WireCodec.call(method.qualifiedName, parameters, more: true), seconds: Self.patience)
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        continuation.onTermination = { _ in socket.shutDown() }
        let thread = Thread {
            defer { continuation.finish() }
            var frames = FrameBuffer(limit: Self.replyLimit)
            var isFirst = true
            while let piece = try? socket.receive(seconds: nil), !piece.isEmpty {
                frames.append(piece)
                while let frame = try? frames.next(), let reply = try? Self.parameters(of: frame, as: reply) {
                    if !isFirst { for element in elements(reply) { continuation.yield(element) } }
                    isFirst = false
                }
            }
        }
        thread.name = "stream"
        thread.start()
        return stream
    }

    /// Notes that a load completed: from then on saves are allowed.
    func noteLoad() { hasLoaded.store(true, ordering: .relaxed) }

    /// Whether a load completed since the application was launched.
    var isLoaded: Bool { hasLoaded.load(ordering: .relaxed) }

    private static func call<Reply: Decodable>(
        _ path: String, _ method: String, _ parameters: some Encodable, reply: Reply.Type
    ) throws -> Reply {
        let socket = try ClientSocket(path: path)
        try socket.send(try WireCodec.call(method, parameters), seconds: patience)
        var frames = FrameBuffer(limit: replyLimit)
        while true {
            if let frame = try frames.next() { return try Self.parameters(of: frame, as: reply) }
            let piece = try socket.receive(seconds: patience)
            if piece.isEmpty { throw ControlError(.connectionLost) }
            frames.append(piece)
        }
    }

    /// The parameters of a reply, or its error thrown.
    static func parameters<Reply: Decodable>(of frame: [UInt8], as type: Reply.Type) throws -> Reply {
        let reply = try IncomingReply(frame: frame)
        switch reply.error {
        case nil: return try reply.parameters(as: type)
        case FailureMessage.errorName: throw try reply.parameters(as: FailureMessage.self).failure
        case let name?:
            // The manager does not know what this client asks for.
            throw ControlError(.versionMismatch, cause: "The manager answered with \(name.prefix(120)).")
        }
    }
}
