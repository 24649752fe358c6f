import Foundation
import ProviderKit
import Testing

@Suite struct ConfigurationTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    private static let reference = KeychainReference(itemClass: .genericPassword, identifier: UniqueIdentifier())

    /// A configuration of each protocol with every property away from its default.
    private static var everything: [ProtocolConfiguration] {
        var common = VPNProtocolValues()
        common.serverAddress = "vpn.example.com"
        common.username = "u"
        common.passwordReference = reference
        common.identityReference = KeychainReference(itemClass: .identity, identifier: UniqueIdentifier())
        common.identityData = [201, 202, 203]
        common.identityDataPassword = "hunter2"
        common.disconnectOnSleep = true
        common.proxySettings = ProxySettings()
        common.includeAllNetworks = true
        common.excludeLocalNetworks = true
        common.excludeCellularServices = false
        common.excludeAPNs = false
        common.excludeDeviceCommunication = false
        common.enforceRoutes = true
        var authentication = VPNIKEAuthentication()
        authentication.authenticationMethod = .sharedSecret
        authentication.useExtendedAuthentication = true
        authentication.sharedSecretReference = reference
        authentication.localIdentifier = "l"
        authentication.remoteIdentifier = "r"
        var tunnel = TunnelProviderProtocol(
            providerBundleIdentifier: "com.example.tunnel",
            providerConfiguration: ["n": 1, "d": .data([0, 255]), "a": .array(["x", true]), "r": .real(0.5)])
        tunnel.common = common
        var ipsec = VPNProtocolIPSec()
        ipsec.common = common
        ipsec.authentication = authentication
        var ikev2 = VPNProtocolIKEv2()
        ikev2.common = common
        ikev2.authentication = authentication
        ikev2.deadPeerDetectionRate = .high
        ikev2.serverCertificateIssuerCommonName = "i"
        ikev2.serverCertificateCommonName = "c"
        ikev2.certificateType = .ed25519
        ikev2.useConfigurationAttributeInternalIPSubnet = true
        ikev2.ikeSecurityAssociationParameters.encryptionAlgorithm = .algorithmChaCha20Poly1305
        ikev2.childSecurityAssociationParameters.postQuantumKeyExchangeMethods = [.method36]
        ikev2.disableMOBIKE = true
        ikev2.disableRedirect = true
        ikev2.enablePFS = true
        ikev2.enableRevocationCheck = true
        ikev2.strictRevocationCheck = true
        ikev2.minimumTLSVersion = .version1_1
        ikev2.maximumTLSVersion = .version1_2
        ikev2.mtu = 1400
        ikev2.ppkConfiguration = VPNIKEv2PPKConfiguration(identifier: "k", keychainReference: reference)
        ikev2.allowPostQuantumKeyExchangeFallback = true
        return [.tunnelProvider(tunnel), .ipsec(ipsec), .ikev2(ikev2)]
    }

    @Test func everyPropertySurvivesTheWire() throws {
        for configuration in Self.everything {
            var whole = VPNConfiguration(slot: .personal)
            whole.localizedDescription = "Büro"
            whole.isEnabled = true
            whole.protocolConfiguration = configuration
            var rule = OnDemandRule(.evaluateConnection, interfaceTypeMatch: .wiFi)
            rule.ssidMatch = ["home"]
            rule.connectionRules = [EvaluateConnectionRule(matchDomains: ["example.com"], andAction: .connectIfNeeded)]
            whole.onDemandRules = [rule, OnDemandRule(.disconnect)]
            whole.isOnDemandEnabled = true
            whole.generation = UInt64.max
            #expect(try decoded(VPNConfiguration.self, try json(whole)) == whole)
        }
    }

    @Test func aMissingPropertyHasItsDefault() throws {
        let bare = [
            (ProtocolConfiguration.ikev2(VPNProtocolIKEv2()), #"{"protocol":"IKEv2"}"#),
            (.ipsec(VPNProtocolIPSec()), #"{"protocol":"IPSec","unknown":1}"#),
            (
                .tunnelProvider(TunnelProviderProtocol(providerBundleIdentifier: "b")),
                #"{"protocol":"TunnelProvider","providerBundleIdentifier":"b"}"#
            ),
        ]
        for (configuration, text) in bare {
            #expect(try decoded(ProtocolConfiguration.self, text) == configuration)
        }
    }

    @Test func defaultsAreNetworkExtensions() {
        let ikev2 = VPNProtocolIKEv2()
        #expect(ikev2.excludeAPNs && ikev2.excludeCellularServices && ikev2.excludeDeviceCommunication)
        #expect(!ikev2.includeAllNetworks && !ikev2.enforceRoutes && !ikev2.disconnectOnSleep)
        #expect(ikev2.deadPeerDetectionRate == .medium && ikev2.authenticationMethod == .none)
        #expect(ikev2.ikeSecurityAssociationParameters.lifetimeMinutes == 60)
        #expect(ikev2.childSecurityAssociationParameters.lifetimeMinutes == 30)
        #expect(ikev2.ikeSecurityAssociationParameters.diffieHellmanGroup.rawValue == 14)
    }

    @Test func sharedPropertiesAreTheConfigurationsOwn() {
        var configuration: any VPNProtocol = TunnelProviderProtocol(providerBundleIdentifier: "b", serverAddress: "a")
        configuration.passwordReference = Self.reference
        #expect(configuration.serverAddress == "a")
        #expect(ProtocolConfiguration(configuration)?.common.passwordReference == Self.reference)
        var ipsec = VPNProtocolIPSec()
        ipsec.serverAddress = "s"
        ipsec.authenticationMethod = .certificate
        #expect(ipsec.common.serverAddress == "s" && ipsec.authentication.authenticationMethod == .certificate)
    }

    @Test(arguments: ["L2TP", "pptp", "PPPoE", "OpenVPN"])
    func aProtocolWithoutAnObjectIsRefusedByName(_ name: String) throws {
        let refusals = [
            try #require(throws: VPNError.self) { _ = try ProtocolConfiguration(protocolName: name) },
            try #require(throws: VPNError.self) {
                _ = try decoded(ProtocolConfiguration.self, #"{"protocol":"\#(name)"}"#)
            },
        ]
        for error in refusals {
            #expect(error.code == .configurationInvalid)
            #expect(error.cause.lowercased().contains(name.lowercased()))
            #expect(error.remedy.contains("IKEv2") && error.remedy.contains("TunnelProvider"))
        }
    }

    @Test func noTextShowsASecretOrAReference() {
        for configuration in Self.everything {
            var dumped = ""
            dump(configuration, to: &dumped)
            let texts = ["\(configuration)", String(reflecting: configuration), dumped]
            for text in texts {
                #expect(!text.contains("202") && !text.contains("hunter2"), "\(text)")
                #expect(!text.contains(Self.reference.bytes.suffix(16).map { "\($0)" }.joined(separator: ", ")))
                #expect(text.contains("vpn.example.com"))
            }
        }
    }

    @Test func aReferenceIsClassAndIdentifier() throws {
        let identifier = UniqueIdentifier()
        let reference = KeychainReference(itemClass: .identity, identifier: identifier)
        #expect(reference.bytes.count == 20 && Array(reference.bytes.prefix(4)) == Array("idnt".utf8))
        #expect(reference.itemClass == .identity && reference.identifier == identifier)
        #expect(try decoded([KeychainReference].self, try json([reference])) == [reference])
        for bytes: [UInt8] in [
            [], Array("password".utf8), Array("cert".utf8) + identifier.bytes, reference.bytes + [0],
        ] {
            #expect(KeychainReference(bytes).itemClass == nil && KeychainReference(bytes).identifier == nil)
        }
    }

    @Test func identifiersAreUUIDs() throws {
        let identifier = UniqueIdentifier()
        #expect(UUID(uuidString: identifier.description)?.uuidString == identifier.description)
        #expect(UniqueIdentifier(identifier.description.lowercased()) == identifier)
        #expect(UniqueIdentifier(bytes: identifier.bytes) == identifier)
        let version = Array(identifier.description)
        #expect(version[14] == "4" && "89AB".contains(version[19]))
        #expect(try decoded([UniqueIdentifier].self, try json([identifier])) == [identifier])
        let wrong = [
            "", "x", String(repeating: "0", count: 36), identifier.description + " ",
            "+" + identifier.description.dropFirst(),
        ]
        for text in wrong { #expect(UniqueIdentifier(text) == nil, "\(text)") }
        #expect(Set((0..<100).map { _ in UniqueIdentifier() }).count == 100)
    }
}
