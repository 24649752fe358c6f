import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Secrets of imported files")
struct ImportedConfigurationTests {
    private let file = """
        # office
        [Interface]
          privatekey=aaaa=   # mine
        Address = 10.7.0.1/24
        PostUp = echo PrivateKey = no

        [Peer]
        PublicKey = bbbb=
        PresharedKey = cccc=
        Endpoint = vpn.example.com:51820
        [Peer]
        PresharedKey=dddd=
        Endpoint = other.example.com:1

        """

    @Test("are taken out of the text, each with a name in its place; everything else stays")
    func taken() {
        let imported = ImportedConfiguration(text: file)
        #expect(
            imported.secrets == [
                .init(name: "PrivateKey", value: "aaaa="), .init(name: "PresharedKey.1", value: "cccc="),
                .init(name: "PresharedKey.2", value: "dddd="),
            ])
        #expect(imported.serverAddress == "vpn.example.com:51820")
        for secret in imported.secrets { #expect(!imported.text.contains(secret.value)) }
        #expect(imported.text.contains("PrivateKey = ${keychain:PrivateKey}\n"))
        #expect(imported.text.contains("PresharedKey = ${keychain:PresharedKey.2}\n"))
        #expect(
            imported.text.contains("PostUp = echo PrivateKey = no\n") && imported.text.contains("PublicKey = bbbb=\n"))
        #expect(imported.text.split(separator: "\n", omittingEmptySubsequences: false).count == 14)
    }

    @Test("are not taken a second time, and empty values are none")
    func again() {
        let once = ImportedConfiguration(text: file)
        let twice = ImportedConfiguration(text: once.text)
        #expect(twice.secrets.isEmpty && twice.text == once.text)
        #expect(ImportedConfiguration(text: "PrivateKey =\n").secrets.isEmpty)
    }
}
