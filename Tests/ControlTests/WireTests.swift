import Foundation
import ProviderKit
import Testing

@testable import Control

@Suite("Calls and replies on the control socket")
struct WireTests {
    private func call(_ text: String) throws -> IncomingCall { try IncomingCall(frame: Array(text.utf8)) }

    @Test("A call has its method, its flags and its parameters")
    func wholeCall() throws {
        let call = try call(#"{"method":"a.b.C","parameters":{"identifier":"x"},"more":true}"#)
        #expect(call.method == "a.b.C" && call.more && !call.oneway && !call.upgrade)
        #expect(call.parameterNames == ["identifier"])
        #expect(try call.parameters(as: ManagerMessages.Identifier.self).identifier == "x")
    }

    @Test("Parameters that are all optional may be left out")
    func noParameters() throws {
        #expect(try call(#"{"method":"a"}"#).parameters(as: ManagerMessages.Application.self).application == nil)
        #expect(
            try call(#"{"method":"a","parameters":{}}"#).parameters(as: ManagerMessages.Application.self).application
                == nil)
    }

    @Test(
        "What is no call is refused",
        arguments: [
            "", "{", "[]", "{}", "null", "1", #"{"method":1}"#, #"{"method":"a","parameters":[]}"#,
            #"{"method":"a","more":1}"#, "\u{FFFD}", #"{"method":"a"} x"#,
        ])
    func noCall(text: String) {
        #expect(throws: WireError.self) { try call(text) }
    }

    @Test(
        "A parameter that is missing or of another type is named",
        arguments: [
            (#"{"method":"a"}"#, "identifier"),
            (#"{"method":"a","parameters":{"identifier":1}}"#, "identifier"),
            (#"{"method":"a","parameters":{"identifier":"x","generation":"y"}}"#, "generation"),
            (#"{"method":"a","parameters":{"identifier":"x","options":[]}}"#, "options"),
        ])
    func parameters(text: String, name: String) throws {
        let call = try call(text)
        #expect(throws: InvalidParameter(parameter: name)) { try call.parameters(as: ManagerMessages.Start.self) }
    }

    @Test("Nesting is bounded")
    func nesting() {
        let depth = 100_000
        let text =
            #"{"method":"a","parameters":{"options":"# + String(repeating: "[", count: depth)
            + String(repeating: "]", count: depth) + "}}"
        #expect(throws: WireError.self) { try call(text) }
    }

    @Test("Replies and errors come back as they were sent")
    func replies() throws {
        let change = ManagerMessages.Change(sessions: [], changed: ["x"])
        let bytes = try WireCodec.reply(change, continues: true)
        #expect(bytes.last == 0)
        let reply = try IncomingReply(frame: bytes.dropLast())
        #expect(reply.error == nil && reply.continues)
        #expect(try reply.parameters(as: ManagerMessages.Change.self) == change)
        let refusal = try WireCodec.error(FailureMessage.errorName, FailureMessage(VPNError(.configurationStale)))
        let refused = try IncomingReply(frame: refusal.dropLast())
        #expect(refused.error == "org.providerhost.manager.Refused")
        #expect(try refused.parameters(as: FailureMessage.self).failure == TunnelFailure(VPNError(.configurationStale)))
    }

    @Test("A reply of lists that were encoded before is the reply that would be encoded now", arguments: [false, true])
    func lists(continues: Bool) throws {
        let states = (0..<3).map { SessionState(identifier: "i\($0)", status: .connected, service: "s", sequence: $0) }
        let bytes = WireCodec.reply(
            lists: ["sessions": try states.map { try WireCodec.object($0) }, "changed": []], continues: continues)
        #expect(bytes.last == 0)
        let reply = try IncomingReply(frame: bytes.dropLast())
        #expect(reply.error == nil && reply.continues == continues)
        #expect(
            try reply.parameters(as: ManagerMessages.Change.self)
                == ManagerMessages.Change(sessions: states, changed: []))
    }

    @Test("A session's state survives the wire, with the words of the interface")
    func sessionState() throws {
        var state = SessionState(identifier: "i", status: .reasserting, service: "s", sequence: 7)
        state.connectedSince = 12.5
        state.interface = "phtun0"
        state.error = TunnelFailure(VPNError(.connectionFailed))
        let data = try JSONEncoder().encode(state)
        #expect(String(decoding: data, as: UTF8.self).contains(#""status":"reasserting""#))
        #expect(try JSONDecoder().decode(SessionState.self, from: data) == state)
    }

    @Test("What is secret of a configuration is left out for those who may not change it")
    func redaction() throws {
        var content = VPNConfiguration()
        var provider = TunnelProviderProtocol(
            providerBundleIdentifier: "com.example.tunnel", serverAddress: "label",
            providerConfiguration: ["ConfigurationText": "PrivateKey = topsecret"])
        provider.passwordReference = KeychainReference(Array("genp0123456789abcdef".utf8))
        provider.username = "somebody"
        content.protocolConfiguration = .tunnelProvider(provider)
        let configuration = ManagedConfiguration(content, application: "app", owner: 1000)
        let text = String(decoding: try JSONEncoder().encode(configuration.redacted), as: UTF8.self)
        #expect(text.contains("com.example.tunnel") && text.contains("label") && text.contains(#""isRedacted":true"#))
        for secret in ["topsecret", "somebody", "67656E70"] { #expect(!text.contains(secret)) }
        let whole = try JSONEncoder().encode(configuration)
        #expect(try JSONDecoder().decode(ManagedConfiguration.self, from: whole) == configuration)
    }
}
