import ProviderKit
import SystemStore
import Testing

@Suite struct KeychainTests {
    private let scratch = Scratch()
    private let store: SystemStore
    private static let shared = StoreClient(
        user: 1000, application: "com.example.office", accessGroups: ["group.example"])
    private static let sharing = StoreClient(
        user: 1000, application: "com.example.home", accessGroups: ["group.example"])

    init() throws { store = try scratch.open() }

    private func status(_ body: (StoreSession) throws -> Void) throws -> KeychainStatus {
        try #require(throws: KeychainError.self) { try store.performOnKeychain(body) }.code
    }

    private func add(_ query: KeychainQuery, _ client: StoreClient = .office) throws -> KeychainReference {
        try store.performOnKeychain { try $0.addItem(query, client).reference }
    }

    private func secret(_ reference: KeychainReference, _ client: StoreClient = .office) throws -> String {
        try store.performOnKeychain { try $0.secret(for: reference, client).text }
    }

    @Test func aReferenceGivesTheSecretInAnotherProcess() throws {
        let reference = try add(.password("pässwörd"))
        #expect(reference.bytes.count == 20 && reference.itemClass == .genericPassword)
        #expect(try scratch.open().read { try $0.secret(for: reference, .office).text } == "pässwörd")
        #expect(
            try secret(add(.password(String(repeating: "x", count: 100_000), account: "long"))).utf8.count == 100_000)
    }

    @Test func whatIsReturnedIsWhatWasAskedFor() throws {
        var query = KeychainQuery.password()
        query[.returnData] = true
        query[.returnAttributes] = true
        let added = try store.performOnKeychain { try $0.addItem(query, .office) }
        #expect(added.data?.text == "s3cret")
        #expect(added.attributes?[.accessGroup] == "com.example.office")
        #expect(added.attributes?[.accessible] == "ck" && added.attributes?[.account] == "me")
        #expect(added.attributes?[.valueData] == nil)
        let found = try store.performOnKeychain { try $0.copyMatching([.itemClass: "genp"], .office) }
        #expect(found.map(\.reference) == [added.reference])
        #expect(found.first?.data == nil && found.first?.attributes == nil)
    }

    @Test func attributesSelect() throws {
        let first = try add(.password(account: "a"))
        let second = try add(.password(account: "b"))
        func found(_ query: KeychainQuery) throws -> [KeychainReference] {
            try store.performOnKeychain { try $0.copyMatching(query, .office).map(\.reference) }
        }
        #expect(try found([.itemClass: "genp"]) == [first])
        #expect(try found([.itemClass: "genp", .matchLimit: "m_LimitAll"]) == [first, second])
        #expect(try found([.itemClass: "genp", .matchLimit: 2]) == [first, second])
        #expect(try found([.itemClass: "genp", .account: "b"]) == [second])
        #expect(try found([.valuePersistentReference: .data(second.bytes), .account: "b"]) == [second])
        #expect(try found([.matchItemList: .array([.data(second.bytes)])]) == [second])
        #expect(try status { _ = try $0.copyMatching([.itemClass: "genp", .service: "x"], .office) } == .itemNotFound)
        #expect(try status { _ = try $0.copyMatching([.itemClass: "idnt"], .office) } == .itemNotFound)
        #expect(
            try status {
                _ = try $0.copyMatching([.valuePersistentReference: .data(second.bytes), .account: "a"], .office)
            }
                == .itemNotFound)
    }

    @Test func anEqualItemIsADuplicate() throws {
        _ = try add(.password())
        #expect(try status { _ = try $0.addItem(.password("other"), .office) } == .duplicateItem)
        let other = try add(.password(account: "other"))
        #expect(
            try status { try $0.updateItems(.item(other), to: [.account: "me"], .office) } == .duplicateItem)
        #expect(try secret(other) == "s3cret")
        // The same names in another group, or of another user, are another item.
        _ = try add(.password(), .home)
        _ = try add(.password(), .stranger)
    }

    @Test func anUpdateKeepsTheReference() throws {
        let reference = try add(.password("old"))
        try store.performOnKeychain { session in
            try session.updateItems(
                .item(reference), to: [.valueData: .data(Array("new".utf8)), .label: "L", .accessible: "ak"], .office)
        }
        #expect(try secret(reference) == "new")
        var query = KeychainQuery.item(reference)
        query[.returnAttributes] = true
        let attributes = try store.performOnKeychain { try $0.copyMatching(query, .office).first?.attributes }
        #expect(attributes?[.label] == "L" && attributes?[.accessible] == "ak" && attributes?[.account] == "me")
    }

    @Test func anUpdateOfManyIsAllOrNothing() throws {
        let references = [try add(.password("1", account: "a")), try add(.password("2", account: "b"))]
        // The second one would become equal to the first.
        #expect(try status { try $0.updateItems([.itemClass: "genp"], to: [.account: "c"], .office) } == .duplicateItem)
        #expect(try references.map { try secret($0) } == ["1", "2"])
        let found = try store.performOnKeychain {
            try $0.copyMatching([.itemClass: "genp", .matchLimit: "m_LimitAll", .returnAttributes: true], .office)
        }
        #expect(found.map { $0.attributes?[.account] } == ["a", "b"])
    }

    @Test func aDeletedItemLeavesADanglingReference() throws {
        let reference = try add(.password())
        try store.performOnKeychain { try $0.deleteItems(.item(reference), .office) }
        let error = try #require(throws: KeychainError.self) { _ = try secret(reference) }
        #expect(error.code == .itemNotFound && error.errorCode == -25300)
        #expect(try status { try $0.deleteItems(.item(reference), .office) } == .itemNotFound)
        // An item that is added again is another one.
        #expect(try add(.password()) != reference)
    }

    @Test func groupsShareWithinOneUser() throws {
        var query = KeychainQuery.password("shared")
        let reference = try add(query, Self.shared)
        #expect(try secret(reference, Self.sharing) == "shared")
        // The application without the group, and another user.
        let error = try #require(throws: KeychainError.self) { _ = try secret(reference, .home) }
        #expect(error.code == .missingEntitlement && error.errorCode == -34018)
        #expect(try #require(throws: KeychainError.self) { _ = try secret(reference, .stranger) }.code == .itemNotFound)
        #expect(try status { _ = try $0.copyMatching([.itemClass: "genp"], .home) } == .itemNotFound)
        query[.accessGroup] = "com.example.office"
        #expect(try secret(try add(query, Self.shared)) == "shared")
        // Moving it makes it unreadable for the others.
        try store.performOnKeychain { session in
            try session.deleteItems([.itemClass: "genp", .accessGroup: "com.example.office"], Self.shared)
            try session.updateItems(.item(reference), to: [.accessGroup: "com.example.office"], Self.shared)
        }
        #expect(try secret(reference) == "shared")
        #expect(throws: KeychainError.self) { _ = try secret(reference, Self.sharing) }
    }

    @Test func nothingIsReadableInTheFiles() throws {
        let secret = "correct horse battery staple"
        _ = try add(.password(secret))
        for name in try scratch.names {
            let content = try String(decoding: [UInt8](Contents.of(scratch.path(name))), as: UTF8.self)
            #expect(!content.contains(secret), "\(name)")
        }
    }

    @Test func aSealedValueOpensInItsOwnRowOnly() throws {
        let mine = try add(.password("mine"))
        let theirs = try add(.password("theirs"), .stranger)
        try Exchange.sealedValues(scratch.folder.database, mine, theirs)
        for (reference, client) in [(mine, StoreClient.office), (theirs, .stranger)] {
            #expect(try #require(throws: KeychainError.self) { _ = try secret(reference, client) }.code == .decode)
        }
    }

    @Test func noTextShowsAQueryOrASecret() throws {
        let query = KeychainQuery.password("hunter2", account: "whoami")
        let match = try store.performOnKeychain { session in
            var query = query
            query[.returnData] = true
            query[.returnAttributes] = true
            return try session.addItem(query, .office)
        }
        var dumped = ""
        dump(query, to: &dumped)
        dump(match, to: &dumped)
        for text in [dumped, "\(query)", "\(match)", String(reflecting: query), String(reflecting: match)] {
            #expect(!text.contains("hunter2") && !text.contains("whoami") && !text.contains("104, 117, 110"), "\(text)")
        }
        let error = try #require(throws: KeychainError.self) {
            _ = try store.performOnKeychain { try $0.addItem(query, .office) }
        }
        #expect(!"\(error)".contains("hunter2") && !"\(error)".contains("whoami"))
    }
}
