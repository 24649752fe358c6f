internal import Control
internal import OnDemand
internal import ProviderKit

/// What watchers are told as it happens.
extension ManagerService {
    func watch(_ call: IncomingCall, _ access: Access) throws -> ControlServer.Outcome {
        let application = try call.parameters(as: ManagerMessages.Application.self).application
        let tunnels = sessions.all.filter { sees($0.owner, $0.application, access.caller, application) }
        let states = try tunnels.map { try $0.encodedState() }
        let reply = WireCodec.reply(lists: ["sessions": states, "changed": []], continues: call.more)
        return call.more ? .stream(.sessions(application: application), reply) : .reply(reply)
    }

    func log(_ call: IncomingCall, _ access: Access) throws -> ControlServer.Outcome {
        let tunnel = try tunnel(access)
        let reply = try WireCodec.reply(ManagerMessages.Lines(lines: tunnel.log.lines), continues: call.more)
        return call.more ? .stream(.log(identifier: tunnel.identifier), reply) : .reply(reply)
    }

    /// Tells watchers a new state of a session.
    func publish(_ tunnel: ManagedTunnel) {
        if tunnel.state.status == .connected { onDemand?.send(.sessionConnected, to: tunnel.identifier) }
        send(ManagerMessages.Change(sessions: [tunnel.state], changed: []), tunnel.owner, tunnel.application)
    }

    /// Tells watchers that a configuration was saved or removed.
    func publishChange(of configuration: ManagedConfiguration) {
        send(
            ManagerMessages.Change(sessions: [], changed: [configuration.key]), configuration.owner,
            configuration.application)
    }

    /// Writes a line of a tunnel to the manager's log, and tells those who follow the tunnel's.
    func publish(_ line: LogLine, of tunnel: ManagedTunnel) {
        writeLine(line.severity, "\(configurations[tunnel.identifier]?.label ?? tunnel.identifier): \(line.text)")
        for connection in server?.streams ?? [] where connection.stream == .log(identifier: tunnel.identifier) {
            send(ManagerMessages.Lines(lines: [line]), to: connection)
        }
    }

    private func send(_ change: ManagerMessages.Change, _ owner: UInt32, _ application: String) {
        for connection in server?.streams ?? [] {
            guard case .sessions(let wanted) = connection.stream, sees(owner, application, connection.caller, wanted)
            else { continue }
            send(change, to: connection)
        }
    }

    private func send(_ message: some Encodable, to connection: ServerConnection) {
        // What is made of text and numbers always encodes.
        guard let bytes = try? WireCodec.reply(message, continues: true) else { return }
        server?.send(bytes, to: connection)
    }

    /// Whether a caller, who may want one application's alone, is shown what belongs to an owner's application.
    private func sees(_ owner: UInt32, _ application: String, _ caller: Caller, _ wanted: String?) -> Bool {
        caller.permission(over: owner, operators: operators) >= .read && (wanted == nil || wanted == application)
    }
}
