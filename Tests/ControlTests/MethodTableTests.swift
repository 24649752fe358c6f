import Foundation
import ProviderKit
import Testing

@testable import Control

@Suite("The table of methods")
struct MethodTableTests {
    /// Parameters and replies with every value set, so that their keys are those of the table.
    private static let examples:
        [ManagerMethod: (parameters: any Encodable & Sendable, reply: any Encodable & Sendable)] = {
            let state = SessionState(identifier: "i", status: .connected, service: "s", sequence: 1)
            let configuration = ManagedConfiguration(VPNConfiguration(), application: "a", owner: 0)
            let application = ManagerMessages.Application(application: "a")
            let identifier = ManagerMessages.Identifier(identifier: "i")
            let query = KeychainMessages.Query([.itemClass: "genp"], application: "a", owner: 1)
            let items = KeychainMessages.Items(items: [])
            let nothing = NoParameters()
            return [
                .list: (application, ManagerMessages.Listing(configurations: [configuration], sessions: [state])),
                .get: (identifier, ManagerMessages.Single(configuration: configuration, session: state)),
                .save: (
                    ManagerMessages.Save(configuration: configuration, secrets: []),
                    ManagerMessages.Saved(generation: 1, warnings: [])
                ),
                .remove: (ManagerMessages.Remove(identifier: "i", generation: 1), nothing),
                .start: (ManagerMessages.Start(identifier: "i", generation: 1, options: ["a": 1]), nothing),
                .stop: (identifier, nothing),
                .watch: (application, ManagerMessages.Change(sessions: [state], changed: [])),
                .sendMessage: (
                    ManagerMessages.Message(identifier: "i", message: [1]), ManagerMessages.MessageReply(reply: [1])
                ),
                .fetchLastDisconnectError: (
                    identifier, ManagerMessages.LastError(error: TunnelFailure(VPNError(.connectionFailed)))
                ),
                .counters: (identifier, ManagerMessages.CountersReply(counters: Counters(interface: "i", epoch: "e"))),
                .explain: (identifier, ManagerMessages.Explanation(onDemand: OnDemandState(reason: "r"))),
                .evaluateConnection: (
                    ManagerMessages.Destination(identifier: "i", host: "h"),
                    ManagerMessages.Verdict(isNeeded: true, reason: "r")
                ),
                .log: (identifier, ManagerMessages.Lines(lines: [])),
                .addItem: (query, items),
                .copyMatching: (query, items),
                .updateItems: (
                    KeychainMessages.Update([:], to: [:], application: "a", owner: 1), nothing
                ),
                .deleteItems: (query, nothing),
                .unlockKeychain: (KeychainMessages.Passphrase(passphrase: "p"), nothing),
                .lockKeychain: (nothing, nothing),
                .changeKeychainPassphrase: (KeychainMessages.PassphraseChange(from: "a", to: "b"), nothing),
            ]
        }()

    private func keys(_ value: any Encodable) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
        return Set(try #require(object as? [String: Any]).keys)
    }

    @Test("names the parameters and the replies that are sent", arguments: ManagerMethod.allCases)
    func fields(method: ManagerMethod) throws {
        let example = try #require(Self.examples[method])
        #expect(try keys(example.parameters) == Set(method.row.parameters.map(\.name)))
        #expect(try keys(example.reply) == Set(method.row.reply.map(\.name)))
    }

    @Test("has no method without a permission, and changes need more than reads", arguments: ManagerMethod.allCases)
    func permissions(method: ManagerMethod) {
        let expected: Permission =
            switch method {
            case .list, .get, .watch, .fetchLastDisconnectError, .counters, .log, .explain: .read
            case .start, .stop, .sendMessage, .evaluateConnection: .operate
            default: .administer
            }
        #expect(method.row.permission == expected)
    }

    @Test("describes itself in Varlink's language")
    func interface() throws {
        let text = InterfaceDescription.manager
        #expect(text.contains("\ninterface org.providerhost.manager\n"))
        for method in ManagerMethod.allCases { #expect(text.contains("\nmethod \(method.rawValue)(")) }
        let types = try text.matches(of: Regex("type ([A-Za-z]+) ")).map { String($0.output[1].substring ?? "") }
        let standard: Set = ["string", "int", "float", "bool", "object"]
        for field in ManagerMethod.allCases.flatMap({ $0.row.parameters + $0.row.reply }) {
            let name = field.type.replacing("?", with: "").replacing("[]", with: "")
            #expect(standard.contains(name) || types.contains(name), "\(field)")
        }
        #expect(InterfaceDescription.text(of: "org.varlink.service") != nil)
        #expect(InterfaceDescription.text(of: "org.example") == nil)
    }
}
