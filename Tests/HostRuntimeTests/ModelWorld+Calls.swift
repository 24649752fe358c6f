import Control
import ProviderKit

@testable import HostRuntime
import TestSupport

/// Calls and choices.
extension ModelWorld {
    /// Asks the service as a connection of this client would.
    func serve(
        _ method: ManagerMethod, _ parameters: some Encodable, as client: ModelClient
    ) throws -> ControlServer.Outcome {
        lastToken += 1
        let frame = try WireCodec.call(method.qualifiedName, parameters)
        let (socket, _) = try ChannelSystem.socketPair()
        let connection = ServerConnection(socket, caller: client.caller, token: lastToken, isStranger: false)
        return service.serve(try IncomingCall(frame: frame.dropLast()), connection)
    }

    /// Asks for what is answered at once.
    func call(
        _ method: ManagerMethod, _ parameters: some Encodable, as client: ModelClient
    ) throws -> IncomingReply {
        try reply(try serve(method, parameters, as: client))
    }

    func reply(_ outcome: ControlServer.Outcome) throws -> IncomingReply {
        switch outcome {
        case .reply(let bytes), .stream(_, let bytes): return try IncomingReply(frame: bytes.dropLast())
        case .later: throw Unexpected("the answer comes later")
        }
    }

    func expect(_ refusal: Refusal?, _ reply: IncomingReply) throws {
        var actual: Refusal?
        if let error = reply.error {
            guard error == FailureMessage.errorName else { throw Unexpected("answered \(error)") }
            actual = Refusal(try reply.parameters(as: FailureMessage.self).failure)
        }
        if let actual { refusals.insert(actual) }
        guard actual == refusal else {
            throw Unexpected("answered \(actual.map { "\($0)" } ?? "yes"), not \(refusal.map { "\($0)" } ?? "yes")")
        }
    }

    /// Reads or deletes the secret of a configuration.
    func touchSecret(_ client: ModelClient, deletes: Bool) throws {
        guard let key = pick({ $0.isSaved }), let configuration = model.saved(key)?.configuration else { return }
        note("\(deletes ? "delete" : "read") the secret of \(label(key)) by \(client)")
        var query: KeychainQuery = [.itemClass: "genp", .service: .string(key), .account: "key"]
        if !deletes { query[.returnData] = true }
        let parameters = KeychainMessages.Query(
            query, application: configuration.application, owner: configuration.owner)
        let reply = try call(deletes ? .deleteItems : .copyMatching, parameters, as: client)
        try expect(model.secret(key, of: configuration.owner, by: client, reads: !deletes), reply)
        guard reply.error == nil else { return }
        if deletes {
            model.tunnels[key]?.secret?.isDeleted = true
            return
        }
        let items = try reply.parameters(as: KeychainMessages.Items.self).items
        guard items.count == 1, items.first?.bytes == model.saved(key)?.secret.map({ Array($0.text.utf8) }) else {
            throw Unexpected("another secret than was saved")
        }
    }

    func lock(_ client: ModelClient) throws {
        let locks = random.next(2) == 0
        note("\(locks ? "lock" : "unlock") by \(client)")
        let refusal: Refusal? = client == .root ? nil : .notPermitted
        if locks || refusal != nil {
            let method = locks ? ManagerMethod.lockKeychain : .unlockKeychain
            try expect(refusal, try call(method, NoParameters(), as: client))
            if refusal == nil { model.isLocked = true }
        } else {
            guard case .later = try serve(.unlockKeychain, KeychainMessages.Passphrase(passphrase: nil), as: client)
            else { throw Unexpected("an unlock was answered at once") }
            due[lastToken] = .reply(nil)
            model.isLocked = false
            try takeAnswers()
        }
    }

    func freshSecret() -> ManagerModel.Secret {
        ManagerModel.Secret(text: "secret \(random.next(1_000_000))", needsUnlocked: random.next(3) == 0)
    }

    /// Some identifier, also of what is gone.
    func anyKey() -> String? { keys.suffix(12).randomElement(using: &random) }

    func pick(_ condition: (ModelTunnel) -> Bool) -> String? {
        keys.filter { model.tunnels[$0].map(condition) ?? false }.randomElement(using: &random)
    }

    /// A configuration as the client has loaded it last.
    func view(_ client: ModelClient) -> ManagedConfiguration? {
        let known = keys.compactMap { views[client]?[$0] }
        return known.randomElement(using: &random)
    }

    func edit(_ configuration: inout ManagedConfiguration, _ change: (inout TunnelProviderProtocol) -> Void) {
        guard var provider = configuration.tunnelProvider else { return }
        change(&provider)
        configuration.content.protocolConfiguration = .tunnelProvider(provider)
    }

    /// A configuration without the references that the manager puts into it.
    func plain(_ configuration: ManagedConfiguration) -> ManagedConfiguration {
        var plain = configuration
        edit(&plain) { $0.providerConfiguration[TunnelProviderProtocol.keychainReferencesKey] = nil }
        return plain
    }

    func inOrder(_ first: ManagedConfiguration, _ second: ManagedConfiguration) -> Bool { first.key < second.key }

    /// A name of a tunnel that is the same whenever the seed is replayed.
    func label(_ key: String) -> String { keys.firstIndex(of: key).map { "#\($0)" } ?? "a new one" }

    func note(_ what: String) {
        if history.count >= 64 { history.removeFirst(32) }
        history.append(what)
    }
}
