import ProviderKit
import SystemStore
import Testing

@testable import HostRuntime

@Suite("Secrets on their way to a worker")
struct SessionSecretsTests {
    private let configuration = TunnelProviderProtocol(
        providerBundleIdentifier: "com.example.tunnel",
        providerConfiguration: [
            "ConfigurationText": "PrivateKey = ${keychain:PrivateKey}\nPresharedKey = ${keychain:Other}\n",
            "list": .array([.dictionary(["deep": "${keychain:PrivateKey}"]), 1]),
            TunnelProviderProtocol.keychainReferencesKey: .dictionary(["PrivateKey": .data([1])]),
        ])

    @Test("take the place of their names, on any depth, and the references go")
    func filled() throws {
        let sealed = try SessionSecrets([
            (name: "PrivateKey", value: SecretBytes("a=b")), (name: "Other", value: SecretBytes("")),
        ])
        let received = try SessionSecrets(reading: sealed.memory.duplicate())
        let values = try received.filled(into: configuration).providerConfiguration
        #expect(values["ConfigurationText"] == "PrivateKey = a=b\nPresharedKey = \n")
        #expect(values["list"] == .array([.dictionary(["deep": "a=b"]), 1]))
        #expect(values[TunnelProviderProtocol.keychainReferencesKey] == nil)
    }

    @Test("leave a name that stands for none of them as it is")
    func unknown() throws {
        let secrets = try SessionSecrets([(name: "Else", value: SecretBytes("x"))])
        let text = try secrets.filled(into: configuration).providerConfiguration["ConfigurationText"]?.stringValue
        #expect(text?.contains("${keychain:PrivateKey}") == true)
    }

    @Test(
        "are refused where the memory is not sealed, or cut off",
        arguments: [[1], [1, 0, 0, 0], [1, 0, 0, 0, 65, 9, 0, 0, 0, 1]])
    func malformed(bytes: [UInt8]) throws {
        let memory = try ChannelSystem.sealedMemory(bytes)
        let secrets = try SessionSecrets(reading: memory)
        #expect(throws: ChannelError.self) { try secrets.filled(into: configuration) }
        let (socket, _) = try ChannelSystem.socketPair()
        #expect(throws: ChannelError.self) { try SessionSecrets(reading: socket) }
    }
}
