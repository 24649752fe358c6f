import ProviderKit
import SQLite
import Testing

@testable import SystemStore
import TestSupport

/// Random operations of several clients and processes against a model of what the store should hold.
@Suite struct RandomOperationTests {
    private struct Abandoned: Error {}

    private static let clients: [StoreClient] = [
        .office, .home, .stranger,
        StoreClient(user: 1000, application: "com.example.group", accessGroups: ["com.example.office"]),
    ]

    /// What should be there.
    private struct Model: Equatable {
        struct Configuration: Equatable {
            let client: StoreClient
            let content: VPNConfiguration
        }

        struct Item: Equatable {
            let user: UInt32
            let group: String
            let account: String
            var secret: [UInt8]
        }

        var configurations: [UniqueIdentifier: Configuration] = [:]
        var items: [KeychainReference: Item] = [:]
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func theStoreIsWhatTheModelSays(_ seed: UInt64) throws {
        let scratch = Scratch()
        var random = SplitMix(state: seed)
        var stores = [try scratch.open(), try scratch.open()]
        var model = Model()
        for step in 0..<400 {
            if step % 90 == 89 { stores[0] = try scratch.open() }
            let index = Int.random(in: stores.indices, using: &random)
            let before = model
            let isAbandoned = Int.random(in: 0..<5, using: &random) == 0
            do {
                model = try stores[index].perform { session in
                    var changed = model
                    // One transaction does one or two things.
                    for _ in 0...Int.random(in: 0...1, using: &random) {
                        try Self.operate(session, &changed, &random)
                    }
                    if isAbandoned { throw Abandoned() }
                    return changed
                }
            } catch is Abandoned {
                model = before
            }
            if step % 20 == 0 { try Self.compare(stores[1 - index], model, "seed \(seed), step \(step)") }
        }
        try Self.compare(try scratch.open(), model, "seed \(seed), at the end")
        #expect(!model.configurations.isEmpty && !model.items.isEmpty)
    }

    /// Does one thing to both; whether it must fail is the model's to say.
    private static func operate(
        _ session: StoreSession, _ model: inout Model, _ random: inout SplitMix
    ) throws {
        guard let client = clients.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let saved = try session.save(.tunnel("Tunnel \(random.next() % 100)"), of: client)
            model.configurations[saved.identifier] = Model.Configuration(client: client, content: saved)
        case 2, 3: try change(session, &model, client, &random)
        case 4:
            guard
                let (identifier, stored) = model.configurations.sorted(by: { "\($0.key)" < "\($1.key)" })
                    .randomElement(using: &random)
            else { return }
            let isOwn = stored.client.user == client.user && stored.client.application == client.application
            try expect(failure: !isOwn) { try session.remove(identifier, of: client) }
            if isOwn { model.configurations[identifier] = nil }
        case 5: try add(session, &model, client, &random)
        default: try touch(session, &model, client, &random)
        }
    }

    /// Saves a change of a configuration that was loaded now, or some saves ago.
    private static func change(
        _ session: StoreSession, _ model: inout Model, _ client: StoreClient, _ random: inout SplitMix
    ) throws {
        let own = model.configurations.values.filter { $0.client == client }.map(\.content)
        guard var content = own.sorted(by: { "\($0.identifier)" < "\($1.identifier)" }).randomElement(using: &random)
        else { return }
        content.isEnabled.toggle()
        let isStale = Bool.random(using: &random)
        if isStale { content.generation = (content.generation ?? 1) - 1 }
        var saved = content
        try expect(failure: isStale) { saved = try session.save(content, of: client) }
        if !isStale { model.configurations[saved.identifier] = Model.Configuration(client: client, content: saved) }
    }

    private static func add(
        _ session: StoreSession, _ model: inout Model, _ client: StoreClient, _ random: inout SplitMix
    ) throws {
        let account = "account \(random.next() % 12)"
        let group = client.accessGroups[0]
        let secret = Array(String(random.next()).utf8)
        let isDuplicate = model.items.values.contains {
            $0.user == client.user && $0.group == group && $0.account == account
        }
        var query = KeychainQuery.password(account: account)
        query[.valueData] = .data(secret)
        try expect(failure: isDuplicate) {
            let reference = try session.addItem(query, client).reference
            model.items[reference] = Model.Item(user: client.user, group: group, account: account, secret: secret)
        }
    }

    /// Updates or deletes an item, where the client may.
    private static func touch(
        _ session: StoreSession, _ model: inout Model, _ client: StoreClient, _ random: inout SplitMix
    ) throws {
        let sorted = model.items.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        guard let (reference, item) = sorted.randomElement(using: &random) else { return }
        let mayTouch = item.user == client.user && client.accessGroups.contains(item.group)
        if Bool.random(using: &random) {
            let secret = Array(String(random.next()).utf8)
            try expect(failure: !mayTouch) {
                try session.updateItems(.item(reference), to: [.valueData: .data(secret)], client)
            }
            if mayTouch { model.items[reference]?.secret = secret }
        } else {
            try expect(failure: !mayTouch) { try session.deleteItems(.item(reference), client) }
            if mayTouch { model.items[reference] = nil }
        }
    }

    private static func expect(failure: Bool, _ body: () throws -> Void) throws {
        guard failure else { return try body() }
        #expect(throws: (any Error).self) { try body() }
    }

    private static func compare(_ store: SystemStore, _ model: Model, _ place: String) throws {
        let (configurations, secrets) = try store.read { session in
            let secrets = try model.items.mapValues { item -> [UInt8] in
                let owner = StoreClient(user: item.user, application: item.group)
                guard let reference = model.items.first(where: { $0.value == item })?.key else { return [] }
                return try session.secret(for: reference, owner).unprotectedCopy()
            }
            return (try session.allConfigurations().map(\.configuration), secrets)
        }
        let count = try store.read { try $0.database.number("SELECT count(*) FROM keychain_items") }
        #expect(
            Dictionary(uniqueKeysWithValues: configurations.map { ($0.identifier, $0) })
                == model.configurations.mapValues(\.content), "\(place)")
        #expect(secrets == model.items.mapValues(\.secret), "\(place)")
        #expect(count == Int64(model.items.count), "\(place)")
    }
}
