internal import Control
internal import ProviderKit
internal import SystemStore

/// Answers the calls of the control socket: who may do what, and what it does.
final class ManagerService {
    let store: SystemStore
    let sessions: SessionTable
    let version: String
    /// Writes a line to the log of the manager.
    let writeLine: (LogLevel, String) -> Void
    /// The number of ``ManagerGroup/name``; nil where the machine has no such group.
    let operators: UInt32?
    /// What the store holds: the manager is the only one that changes it.
    var configurations: [String: ManagedConfiguration] = [:]
    /// The same in JSON, whole (false) and redacted (true), as far as it was asked for.
    var encodedConfigurations: [String: [Bool: [UInt8]]] = [:]
    /// The server, once it listens.
    weak var server: ControlServer?
    /// What starts and stops sessions by rules; none in a test of the service alone.
    var onDemand: OnDemandDriver?

    /// Loads the store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - sessions: The sessions, none of which runs yet.
    ///   - version: What `GetInfo` says.
    ///   - operators: The number of ``ManagerGroup/name``.
    ///   - log: Writes a line to the log of the manager.
    /// - Throws: What the store throws.
    init(
        store: SystemStore, sessions: SessionTable, version: String,
        operators: UInt32? = ManagerSocket.groupNumber(ManagerGroup.name),
        log: @escaping (LogLevel, String) -> Void = { _, _ in }
    ) throws {
        writeLine = log
        self.store = store
        self.sessions = sessions
        self.version = version
        self.operators = operators
        try loadConfigurations()
        sessions.onChange = { [unowned self] in publish($0) }
        sessions.onLine = { [unowned self] in publish($1, of: $0) }
        sessions.onSession = { [unowned self] in note($1, of: $0, error: $2) }
        sessions.onAnswer = { [unowned self] in server?.complete($0, with: $1) }
    }

    /// Whether the caller may administer nothing, not even something of its own.
    func isStranger(_ caller: Caller) -> Bool { !caller.isRoot && !ownsAny(caller) }

    /// Whether a configuration belongs to the caller.
    func ownsAny(_ caller: Caller) -> Bool { configurations.values.contains { $0.owner == caller.user } }

    /// Answers one call.
    func serve(_ call: IncomingCall, _ connection: ServerConnection) -> ControlServer.Outcome {
        do {
            switch call.method {
            case VarlinkService.getInfo: return .reply(try WireCodec.reply(VarlinkService.Info(version: version)))
            case VarlinkService.getInterfaceDescription: return .reply(try describe(call))
            default: break
            }
            guard !call.upgrade else { throw InvalidParameter(parameter: "upgrade") }
            let method = try method(call.method)
            let known = Set(method.row.parameters.map(\.name))
            if let unknown = call.parameterNames.first(where: { !known.contains($0) }) {
                throw InvalidParameter(parameter: String(unknown.prefix(120)))
            }
            let access = try authorize(method, call, connection)
            if method.row.permission > .read { note(method, access, connection) }
            return try perform(method, call, access, connection)
        } catch {
            return .reply(Self.refusal(error))
        }
    }

    /// The error as a reply.
    static func refusal(_ error: any Error) -> [UInt8] {
        do {
            switch error {
            case let error as UnknownMethod: return try error.failure.encoded()
            case let error as InvalidParameter:
                return try VarlinkService.Failure.invalidParameter(error.parameter).encoded()
            default: return try WireCodec.error(FailureMessage.errorName, FailureMessage(TunnelFailure(error)))
            }
        } catch {
            // Text and numbers always encode.
            return Array(#"{"error":"\#(FailureMessage.errorName)","parameters":{}}"#.utf8) + [0]
        }
    }

    private func method(_ name: String) throws -> ManagerMethod {
        let parts = name.split(separator: ".")
        let interface = parts.dropLast().joined(separator: ".")
        guard InterfaceDescription.text(of: interface) != nil else {
            throw UnknownMethod(failure: .interfaceNotFound(String(interface.prefix(120))))
        }
        guard interface == ManagerMethod.interface, let method = ManagerMethod(rawValue: String(parts.last ?? ""))
        else {
            throw UnknownMethod(failure: .methodNotFound(String(name.prefix(120))))
        }
        return method
    }

    private func describe(_ call: IncomingCall) throws -> [UInt8] {
        let interface = try call.parameters(as: VarlinkService.InterfaceName.self).interface
        guard let text = InterfaceDescription.text(of: interface) else {
            throw UnknownMethod(failure: .interfaceNotFound(String(interface.prefix(120))))
        }
        return try WireCodec.reply(VarlinkService.Description(description: text))
    }

    /// Writes who changes something to the log.
    private func note(_ method: ManagerMethod, _ access: Access, _ connection: ServerConnection) {
        guard let identifier = access.configuration?.key, let tunnel = sessions.tunnel(identifier) else { return }
        let caller = connection.caller
        let program =
            ManagerSocket.programName(of: connection.socket, process: caller.process) ?? "a program that ended"
        publish(
            tunnel.log.add(.info, "\(method.rawValue) by user \(caller.user), \(program), process \(caller.process)"),
            of: tunnel)
    }

    private struct UnknownMethod: Error {
        let failure: VarlinkService.Failure
    }
}
