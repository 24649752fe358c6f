import Control
import ProviderKit
import Session

@testable import HostRuntime
import TestSupport

/// What clients ask.
extension ModelWorld {
    private static let largestCount = 8

    /// Lets one client ask for one thing, and compares the answer with what the model says.
    func ask() throws {
        guard let client = ModelClient.allCases.randomElement(using: &random) else { return }
        let count = model.tunnels.values.count(where: \.isSaved)
        switch random.next(100) {
        case 0..<6 where count < Self.largestCount: try create(client)
        case 0..<16: try load(client)
        case 16..<20: try get(client)
        case 20..<34: try change(client)
        case 34..<39: try rotate(client)
        case 39..<41: try touchSecret(client, deletes: true)
        case 41..<44: try touchSecret(client, deletes: false)
        case 44..<48: try lock(client)
        case 48..<70: try start(client)
        case 70..<78: try stop(client)
        case 78..<90: try message(client)
        case 90..<92: try watch(client)
        case 92..<95: try lastError(client)
        case 95..<96: try log(client)
        case 96..<99: try remove(client)
        default: if random.next(8) == 0 { try restart() }
        }
    }

    private func create(_ client: ModelClient) throws {
        // Sometimes one comes back that was removed, and whose session may still be ending.
        let gone = keys.filter { model.saved($0) == nil }
        let isAgain = !gone.isEmpty && random.next(3) == 0
        let identifier = isAgain ? gone.randomElement(using: &random).flatMap { UniqueIdentifier($0) } : nil
        var content = VPNConfiguration(identifier: identifier ?? UniqueIdentifier())
        content.generation = random.next(12) == 0 ? 7 : 0
        content.isEnabled = random.next(4) > 0
        content.localizedDescription = "tunnel \(random.next(50))"
        let isInstalled = random.next(8) > 0
        content.protocolConfiguration = .tunnelProvider(
            TunnelProviderProtocol(
                providerBundleIdentifier: isInstalled ? "org.providerhost.loopback" : "com.example.none",
                serverAddress: content.identifier.description, providerConfiguration: ["key": "${keychain:key}"]))
        let owner = ModelClient.owners[random.next(2)]
        let new = ManagedConfiguration(content, application: "app \(random.next(2))", owner: owner)
        try save(new, random.next(2) == 0 ? freshSecret() : nil, by: client)
    }

    private func load(_ client: ModelClient) throws {
        note("load by \(client)")
        let reply = try call(.list, ManagerMessages.Application(application: nil), as: client)
        try expect(model.overview(client), reply)
        guard reply.error == nil else { return views[client] = [:] }
        let listing = try reply.parameters(as: ManagerMessages.Listing.self)
        let expected = model.visible(to: client).map { client == .helper ? $0.redacted : $0 }
        guard listing.configurations.map(plain).sorted(by: inOrder) == expected.map(plain).sorted(by: inOrder) else {
            throw Unexpected("\(client) sees \(listing.configurations), not \(expected)")
        }
        for state in listing.sessions { try compare(state) }
        guard Set(listing.sessions.map(\.identifier)) == Set(expected.map(\.key)) else {
            throw Unexpected("the sessions are not those of the configurations")
        }
        views[client] = Dictionary(uniqueKeysWithValues: listing.configurations.map { ($0.key, $0) })
    }

    private func get(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        note("get \(label(key)) by \(client)")
        let reply = try call(.get, ManagerMessages.Identifier(identifier: key), as: client)
        try expect(model.access(client, key, .read), reply)
        guard reply.error == nil else { return views[client, default: [:]][key] = nil }
        let single = try reply.parameters(as: ManagerMessages.Single.self)
        try compare(single.session)
        views[client, default: [:]][key] = single.configuration
    }

    /// Saves what the client has loaded with a change that may be wrong in every way.
    private func change(_ client: ModelClient) throws {
        guard var new = view(client) else { return try load(client) }
        switch random.next(14) {
        case 0..<6: new.content.isEnabled.toggle()
        case 6..<9: new.content.localizedDescription = "tunnel \(random.next(50))"
        case 9: new.content.generation = (new.content.generation ?? 1) - 1
        case 10: new.owner = 1002
        case 11: new = new.redacted
        case 12: edit(&new) { $0.serverAddress = nil }
        default: edit(&new) { $0.providerConfiguration[TunnelProviderProtocol.allowHooksKey] = true }
        }
        try save(new, nil, by: client)
    }

    private func rotate(_ client: ModelClient) throws {
        guard let new = view(client) else { return try load(client) }
        try save(new, freshSecret(), by: client)
    }

    private func save(_ new: ManagedConfiguration, _ secret: ManagerModel.Secret?, by client: ModelClient) throws {
        note(
            "save \(label(new.key)), generation \(new.content.generation ?? 0), enabled \(new.content.isEnabled) by \(client)"
        )
        let secrets = secret.map {
            [NewSecret(name: "key", bytes: Array($0.text.utf8), accessibility: $0.needsUnlocked ? "ak" : "ck")]
        }
        let reply = try call(.save, ManagerMessages.Save(configuration: new, secrets: secrets), as: client)
        try expect(model.save(new, secret, by: client), reply)
        guard reply.error == nil else { return }
        let generation = try reply.parameters(as: ManagerMessages.Saved.self).generation
        guard generation > model.generation else { throw Unexpected("generation \(generation) was given before") }
        let isInstalled = new.tunnelProvider?.providerBundleIdentifier == "org.providerhost.loopback"
        if !keys.contains(new.key) { keys.append(new.key) }
        let effect = model.saved(new, secret, isInstalled: isInstalled, generation: generation)
        try settle(new.key, effect)
    }

    private func remove(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        let generation = random.next(2) == 0 ? nil : views[client]?[key]?.content.generation
        note("remove \(label(key)) by \(client)")
        let reply = try call(.remove, ManagerMessages.Remove(identifier: key, generation: generation), as: client)
        try expect(model.remove(key, generation, by: client), reply)
        if reply.error == nil { try settle(key, model.removed(key)) }
    }

    private func start(_ client: ModelClient) throws {
        guard let key = random.next(8) == 0 ? anyKey() : pick({ $0.isSaved }) else { return }
        let generation = random.next(2) == 0 ? nil : views[client]?[key]?.content.generation
        note("start \(label(key)) by \(client)")
        let refusal = model.start(key, generation, by: client)
        let reply = try call(
            .start, ManagerMessages.Start(identifier: key, generation: generation, options: nil), as: client)
        try expect(refusal, reply)
        if refusal == nil {
            try apply(key) {
                $0.start()
            } doing: {
            }
        }
    }

    private func stop(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        note("stop \(label(key)) by \(client)")
        let refusal = model.access(client, key, .operate)
        let reply = try call(.stop, ManagerMessages.Identifier(identifier: key), as: client)
        try expect(refusal, reply)
        if refusal == nil {
            try apply(key) {
                $0.stop(.userInitiated)
            } doing: {
            }
        }
    }

    private func message(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        note("message to \(label(key)) by \(client)")
        let refusal = model.message(key, by: client)
        let token = lastToken + 1
        let outcome = try serve(
            .sendMessage, ManagerMessages.Message(identifier: key, message: Array("\(token)".utf8)), as: client)
        if let refusal { return try expect(refusal, try reply(outcome)) }
        guard case .later = outcome, let phase = model.tunnels[key]?.phase else {
            throw Unexpected("a message was answered at once")
        }
        let message = ModelTunnel.Message(token: token, isDelivered: false)
        switch phase {
        case .idle: break
        case .stopping: due[token] = .refused(.notRunning)
        case .loading, .reloading: model.tunnels[key]?.messages.append(message)
        case .starting, .restarting, .up, .reasserting:
            model.tunnels[key]?.messages.append(message)
            try deliver(key, message)
        }
        try settle(key, .nothing)
    }

    private func lastError(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        note("last error of \(label(key)) by \(client)")
        let reply = try call(.fetchLastDisconnectError, ManagerMessages.Identifier(identifier: key), as: client)
        try expect(model.access(client, key, .read), reply)
        guard reply.error == nil else { return }
        let error = try reply.parameters(as: ManagerMessages.LastError.self).error.map { Refusal($0.failure) }
        if error != model.tunnels[key]?.error { throw Unexpected("the last error is \(String(describing: error))") }
    }

    private func log(_ client: ModelClient) throws {
        guard let key = anyKey() else { return }
        let reply = try call(.log, ManagerMessages.Identifier(identifier: key), as: client)
        try expect(model.access(client, key, .read), reply)
    }

    private func watch(_ client: ModelClient) throws {
        note("watch by \(client)")
        let reply = try call(.watch, ManagerMessages.Application(application: nil), as: client)
        try expect(model.overview(client), reply)
        guard reply.error == nil else { return }
        for state in try reply.parameters(as: ManagerMessages.Change.self).sessions { try compare(state) }
    }

    private func restart() throws {
        note("restart of the manager")
        try restartManager()
    }

    private func compare(_ state: SessionState) throws {
        let tunnel = model.tunnels[state.identifier]
        guard state.status == tunnel?.status, state.error.map({ Refusal($0) }) == tunnel?.error else {
            throw Unexpected("\(label(state.identifier)) is \(state), not \(String(describing: tunnel))")
        }
    }
}
