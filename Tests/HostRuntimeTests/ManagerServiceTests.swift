import Control
import Foundation
import ProviderKit
import SystemStore
import Testing

@testable import HostRuntime

/// A manager's service on a store of its own, asked without a socket.
private final class ServiceHarness {
    static let owner: UInt32 = 1000
    static let operators: UInt32 = 2000

    let service: ManagerService
    let configuration: ManagedConfiguration
    private let folder = NSTemporaryDirectory() + "phservice-" + UUID().uuidString

    init() throws {
        let store = try SystemStore(folder: StateFolder(path: folder))
        service = try ManagerService(
            store: store, sessions: SessionTable(), version: "test", operators: Self.operators)
        var content = VPNConfiguration()
        content.generation = 0
        content.localizedDescription = "office"
        content.isEnabled = true
        content.protocolConfiguration = .tunnelProvider(
            TunnelProviderProtocol(
                providerBundleIdentifier: "com.example.none", serverAddress: "label",
                providerConfiguration: ["key": "topsecret"]))
        let new = ManagedConfiguration(content, application: "app", owner: Self.owner)
        configuration = try service.commit(new, [])
        service.remember(configuration)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Asks as somebody, and returns the reply.
    func ask(_ method: String, _ parameters: some Encodable, as caller: Caller) throws -> IncomingReply? {
        let bytes = try WireCodec.call(method, parameters)
        let (socket, _) = try ChannelSystem.socketPair()
        let connection = ServerConnection(socket, caller: caller, token: 1, isStranger: false)
        switch service.serve(try IncomingCall(frame: bytes.dropLast()), connection) {
        case .reply(let bytes), .stream(_, let bytes): return try IncomingReply(frame: bytes.dropLast())
        case .later: return nil
        }
    }
}

/// The kinds of callers that the rules tell apart.
enum CallerKind: String, CaseIterable, Sendable {
    case root, owner, group, other

    fileprivate var caller: Caller {
        switch self {
        case .root: Caller(user: 0, groups: [0], process: 1)
        case .owner: Caller(user: ServiceHarness.owner, groups: [1000], process: 1)
        case .group: Caller(user: 1001, groups: [1001, ServiceHarness.operators], process: 1)
        case .other: Caller(user: 1002, groups: [1002], process: 1)
        }
    }

    /// What the rules say, written down apart from the code that follows them.
    func may(_ method: ManagerMethod) -> Bool {
        switch (self, method) {
        case (.root, _): true
        case (.owner, .unlockKeychain), (.owner, .lockKeychain), (.owner, .changeKeychainPassphrase): false
        case (.owner, _): true
        case (.group, .list), (.group, .get), (.group, .watch), (.group, .log), (.group, .counters),
            (.group, .fetchLastDisconnectError), (.group, .start), (.group, .stop), (.group, .sendMessage),
            (.group, .explain), (.group, .evaluateConnection):
            true
        case (.group, _), (.other, _): false
        }
    }
}

@Suite("Who may do what")
struct ManagerServiceTests {
    private func parameters(_ method: ManagerMethod, _ configuration: ManagedConfiguration) -> any Encodable {
        switch method {
        case .list, .watch: return ManagerMessages.Application(application: nil)
        case .evaluateConnection: return ManagerMessages.Destination(identifier: configuration.key, host: "a.example")
        case .get, .stop, .fetchLastDisconnectError, .counters, .log, .explain:
            return ManagerMessages.Identifier(identifier: configuration.key)
        case .save: return ManagerMessages.Save(configuration: configuration, secrets: nil)
        case .remove: return ManagerMessages.Remove(identifier: configuration.key, generation: nil)
        case .start: return ManagerMessages.Start(identifier: configuration.key, generation: nil, options: nil)
        case .sendMessage: return ManagerMessages.Message(identifier: configuration.key, message: [1])
        case .addItem:
            return KeychainMessages.Query(
                [.itemClass: "genp", .service: "s", .account: "a", .valueData: .data([1])], application: nil, owner: nil
            )
        case .copyMatching, .deleteItems:
            return KeychainMessages.Query([.itemClass: "genp", .service: "s"], application: nil, owner: nil)
        case .updateItems:
            return KeychainMessages.Update(
                [.itemClass: "genp", .service: "s"], to: [.label: "l"], application: nil, owner: nil)
        case .unlockKeychain: return KeychainMessages.Passphrase(passphrase: nil)
        case .lockKeychain: return NoParameters()
        case .changeKeychainPassphrase: return KeychainMessages.PassphraseChange(from: nil, to: nil)
        }
    }

    private func isDenied(_ reply: IncomingReply?) throws -> Bool {
        guard let reply, reply.error == FailureMessage.errorName else { return false }
        let failure = try reply.parameters(as: FailureMessage.self)
        return failure.domain == ControlErrorCode.domain && failure.code == ControlErrorCode.notPermitted.rawValue
    }

    @Test("every method by every kind of caller", arguments: ManagerMethod.allCases, CallerKind.allCases)
    func matrix(method: ManagerMethod, kind: CallerKind) throws {
        let harness = try ServiceHarness()
        let parameters = parameters(method, harness.configuration)
        let reply = try harness.ask(method.qualifiedName, parameters, as: kind.caller)
        #expect(try isDenied(reply) == !kind.may(method))
        // A denied change changes nothing.
        if !kind.may(method) {
            #expect(harness.service.configurations[harness.configuration.key] == harness.configuration)
        }
    }

    @Test("everybody may ask what the service is", arguments: CallerKind.allCases)
    func serviceInfo(kind: CallerKind) throws {
        let harness = try ServiceHarness()
        let info = try harness.ask(VarlinkService.getInfo, NoParameters(), as: kind.caller)
        #expect(try info?.parameters(as: VarlinkService.Info.self).interfaces.contains(ManagerMethod.interface) == true)
        let text = try harness.ask(
            VarlinkService.getInterfaceDescription, VarlinkService.InterfaceName(interface: ManagerMethod.interface),
            as: kind.caller)
        #expect(
            try text?.parameters(as: VarlinkService.Description.self).description == InterfaceDescription.manager)
    }

    @Test("S17: a refusal names the missing entitlement", arguments: VPNConfigurationSlot.allCases)
    func entitlement(slot: VPNConfigurationSlot) throws {
        let harness = try ServiceHarness()
        var content = VPNConfiguration(slot: slot)
        content.generation = 0
        let new = ManagedConfiguration(content, application: "app", owner: 1002)
        let reply = try harness.ask(
            ManagerMethod.save.qualifiedName, ManagerMessages.Save(configuration: new, secrets: nil),
            as: CallerKind.other.caller)
        let failure = try #require(try reply?.parameters(as: FailureMessage.self))
        let named = slot == .personal ? "vpn.api (allow-vpn)" : "networkextension (packet-tunnel-provider)"
        #expect(failure.cause.contains("com.apple.developer.networking.\(named)"), "\(failure)")
        #expect(failure.remedy.contains("--owner"), "\(failure)")
        let lock = try harness.ask(
            ManagerMethod.lockKeychain.qualifiedName, NoParameters(), as: CallerKind.owner.caller)
        #expect(try lock?.parameters(as: FailureMessage.self).cause.contains("entitlement") == false)
    }

    @Test("whether a configuration exists is not told to those who may not see it")
    func existence() throws {
        let harness = try ServiceHarness()
        let missing = ManagerMessages.Identifier(identifier: UUID().uuidString)
        let present = ManagerMessages.Identifier(identifier: harness.configuration.key)
        let method = ManagerMethod.get.qualifiedName
        let first = try harness.ask(method, missing, as: CallerKind.other.caller)
        let second = try harness.ask(method, present, as: CallerKind.other.caller)
        #expect(
            try first?.parameters(as: FailureMessage.self) == second?.parameters(as: FailureMessage.self))
        let told = try harness.ask(method, missing, as: CallerKind.group.caller)
        #expect(try told?.parameters(as: FailureMessage.self).code == VPNErrorCode.configurationInvalid.rawValue)
    }

    @Test("what is secret is shown to root and the owner alone", arguments: CallerKind.allCases)
    func secrets(kind: CallerKind) throws {
        let harness = try ServiceHarness()
        let calls: [(ManagerMethod, any Encodable)] = [
            (.list, ManagerMessages.Application(application: nil)),
            (.get, ManagerMessages.Identifier(identifier: harness.configuration.key)),
        ]
        for (method, parameters) in calls {
            guard let reply = try harness.ask(method.qualifiedName, parameters, as: kind.caller), reply.error == nil
            else { continue }
            let text = String(decoding: try JSONEncoder().encode(try reply.parameters(as: AnyText.self)), as: UTF8.self)
            #expect(text.contains("topsecret") == [.root, .owner].contains(kind))
        }
    }

    /// Whatever an object holds, to be searched as text.
    private struct AnyText: Codable {
        let value: PropertyListValue
        init(from decoder: any Decoder) throws { value = try PropertyListValue(from: decoder) }
        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    @Test("an owner can neither give a configuration away nor allow it to run commands or to forward")
    func limitsOfOwners() throws {
        let harness = try ServiceHarness()
        var stolen = harness.configuration
        stolen.owner = 0
        let save = ManagerMethod.save.qualifiedName
        let owner = CallerKind.owner.caller
        let first = try harness.ask(save, ManagerMessages.Save(configuration: stolen, secrets: nil), as: owner)
        #expect(first?.error != nil)
        for key in [TunnelProviderProtocol.allowHooksKey, TunnelProviderProtocol.masqueradeKey] {
            var changed = harness.configuration
            var provider = try #require(changed.tunnelProvider)
            provider.providerConfiguration[key] = true
            changed.content.protocolConfiguration = .tunnelProvider(provider)
            let second = try harness.ask(save, ManagerMessages.Save(configuration: changed, secrets: nil), as: owner)
            #expect(try isDenied(second), "\(key)")
        }
        var fresh = harness.configuration
        fresh = ManagedConfiguration(
            {
                var content = VPNConfiguration(); content.generation = 0; return content
            }(), application: "app",
            owner: ServiceHarness.owner)
        let third = try harness.ask(save, ManagerMessages.Save(configuration: fresh, secrets: nil), as: owner)
        #expect(try isDenied(third), "only root makes new ones")
    }

    @Test(
        "what does not exist has Varlink's own errors",
        arguments: [
            ("org.example.Nothing", "org.varlink.service.InterfaceNotFound"),
            ("List", "org.varlink.service.InterfaceNotFound"),
            ("org.providerhost.manager.Destroy", "org.varlink.service.MethodNotFound"),
            ("org.varlink.service.Destroy", "org.varlink.service.MethodNotFound"),
        ])
    func unknown(method: String, error: String) throws {
        let harness = try ServiceHarness()
        #expect(try harness.ask(method, NoParameters(), as: CallerKind.root.caller)?.error == error)
        let surplus = try harness.ask(
            ManagerMethod.stop.qualifiedName, ["identifier": harness.configuration.key, "force": "yes"],
            as: CallerKind.root.caller)
        #expect(surplus?.error == "org.varlink.service.InvalidParameter")
    }
}
