import Testing
import WireGuard

/// Published test keys (wg(8), "CONFIGURATION FILE FORMAT EXAMPLE").
let examplePrivateKey = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
let examplePeerKeys = [
    "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=", "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0=",
]
let examplePresharedKey = "//////////////////////////////////////////8="

/// The lines of a file with a private key and one peer, to which a test adds its own.
func interfaceFile(_ lines: String...) -> String {
    (["[Interface]", "PrivateKey = \(examplePrivateKey)"] + lines).joined(separator: "\n")
}

func peerFile(_ lines: String...) -> String {
    interfaceFile((["[Peer]", "PublicKey = \(examplePeerKeys[0])"] + lines).joined(separator: "\n"))
}

@Suite("A wg-quick file is read")
struct ConfigurationTests {
    static let full = """
        # made by hand
        [Interface]
        PrivateKey = \(examplePrivateKey) # the client's
        ListenPort = 51820
        FwMark = 0xca6c
        Address = 10.0.0.2/24, fd00::2/64
        Address = 192.0.2.9
        DNS = 10.0.0.1, corp.example,fd00::1
        DNS = lab_1.example.
        MTU = 1420
        Table = 1234
        PreUp = echo '# not a comment' # nor this
        PostUp = iptables -A FORWARD -i %i -j ACCEPT; true
        PreDown = true
        PostDown = true
        SaveConfig = true
        # switch_off = UDP_GSO, wide_aead
        # threads = 4
        # match_domains = corp.example, 7.10.in-addr.arpa

        [Peer]
        # friendly_name = Gateway = 1
        # settings = pushed
        PublicKey = \(examplePeerKeys[0])
        PresharedKey = \(examplePresharedKey)
        AllowedIPs = 10.0.0.7/24, 0.0.0.0/0
        AllowedIPs = ::/0
        Endpoint = [2001:db8::1]:51820
        PersistentKeepalive = 25

        [Peer]
        PublicKey = \(examplePeerKeys[1])
        AllowedIPs =
        """

    @Test("with every key that wg and wg-quick know")
    func everyKey() throws {
        let configuration = try Configuration(wgQuick: Self.full)
        let interface = configuration.interface
        #expect(interface.privateKey.base64 == examplePrivateKey)
        #expect(interface.listenPort == 51820)
        #expect(interface.firewallMark == 51820)
        #expect(interface.addresses.map(\.description) == ["10.0.0.2/24", "fd00::2/64", "192.0.2.9/32"])
        #expect(interface.dnsServers.map(\.description) == ["10.0.0.1", "fd00::1"])
        #expect(interface.searchDomains == ["corp.example", "lab_1.example."])
        #expect(interface.mtu == 1420)
        #expect(interface.table == .number(1234))
        #expect(interface.savesConfiguration)
        #expect(interface.threads == 4)
        #expect(interface.matchDomains == ["corp.example", "7.10.in-addr.arpa"])
        #expect(interface.switchedOff == [.udpGSO, .wideAEAD])
        #expect(interface.hooks.map(\.moment) == [.preUp, .postUp, .preDown, .postDown])
        #expect(interface.hooks.map(\.line) == [12, 13, 14, 15])

        let peer = try #require(configuration.peers.first)
        #expect(configuration.peers.count == 2)
        #expect(peer.publicKey.base64 == examplePeerKeys[0])
        #expect(peer.presharedKey?.base64 == examplePresharedKey)
        #expect(peer.allowedIPs.map(\.description) == ["10.0.0.0/24", "0.0.0.0/0", "::/0"])
        #expect(peer.endpoint?.description == "[2001:db8::1]:51820")
        #expect(peer.persistentKeepalive == 25)
        #expect(peer.friendlyName == "Gateway = 1")
        #expect(configuration.peers[1].allowedIPs.isEmpty)
        #expect(configuration.peers[1].presharedKey == nil)
        #expect(configuration.peers[1].friendlyName == nil)
    }

    @Test("and a '#' in a hook stays, because the shell reads it")
    func hashInHook() throws {
        let configuration = try Configuration(wgQuick: Self.full)
        #expect(configuration.interface.hooks[0].command == "echo '# not a comment' # nor this")
        #expect(configuration.interface.hooks[1].command == "iptables -A FORWARD -i %i -j ACCEPT; true")
    }

    @Test("the same whatever ends its lines, indents them or spells their case")
    func spelling() throws {
        let expected = try Configuration(wgQuick: Self.full)
        let shouted = Self.full.replacing("[Interface]", with: "[ INTERFACE ]").replacing("[Peer]", with: "[peer]")
            .replacing("AllowedIPs", with: "allowedips").replacing("PublicKey", with: "PUBLICKEY")
        let variants = [
            Self.full.replacing("\n", with: "\r\n"), "\u{feff}" + Self.full, Self.full + "\n\n",
            Self.full.replacing("\n", with: " \t\n\t "), shouted,
        ]
        for variant in variants {
            #expect(try Configuration(wgQuick: variant) == expected)
        }
        // Without the spaces the friendly name has none either.
        let tight = try Configuration(wgQuick: Self.full.replacing(" = ", with: "="))
        #expect(tight.interface == expected.interface)
        #expect(tight.peers[0].friendlyName == "Gateway=1")
    }

    @Test(
        "with marks, tables and switches in each of their forms",
        arguments: [
            ("FwMark = off", "FwMark = 0"), ("FwMark = OFF", ""), ("FwMark = 0XFFFFFFFF", "FwMark = 4294967295"),
            ("FwMark = 10", "FwMark = 0xa"), ("Table = auto", ""), ("Table = main", "Table = 254"),
            ("Table = default", "Table = 253"), ("Table = Local", "Table = 255"), ("Table = 0x10", "Table = 16"),
            ("SaveConfig = FALSE", ""), ("DNS =", ""), ("Address = ", ""), ("PostUp = ", ""),
            ("Address = 10.0.0.1/8 10.0.0.2/8,", "Address = 10.0.0.1/8\nAddress = 10.0.0.2/8"),
            ("ListenPort = 1\nListenPort = 2", "ListenPort = 2"), ("MTU = 1400\nMTU = 1500", "MTU = 1500"),
            ("# switch_off = tun_tso\n#SWITCH_OFF=udp_gro", "# switch_off = udp_gro tun_tso"), ("# switch_off =", ""),
            ("# to switch_off = anything", ""), ("ListenPort = 7 # switch_off = tun_tso", "ListenPort = 7"),
            ("ListenPort = 7 # seven", "ListenPort = 7"), ("#Table = off", ""), ("\t\n \r\n", ""),
        ])
    func equivalentInterface(one: String, other: String) throws {
        #expect(try Configuration(wgQuick: interfaceFile(one)) == Configuration(wgQuick: interfaceFile(other)))
    }

    @Test(
        "with peers in each of their forms",
        arguments: [
            ("PersistentKeepalive = off", "PersistentKeepalive = 0"), ("PersistentKeepalive = 0", ""),
            ("PresharedKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", ""), ("AllowedIPs =", ""),
            ("AllowedIPs = 10.1.2.3", "AllowedIPs = 10.1.2.3/32"), ("AllowedIPs = fd00::1", "AllowedIPs = fd00::1/128"),
            ("AllowedIPs = 10.1.2.3/8", "AllowedIPs = 10.0.0.0/8"),
            ("AllowedIPs = 10.0.0.0/8 , 11.0.0.0/8", "AllowedIPs = 10.0.0.0/8\nAllowedIPs = 11.0.0.0/8"),
            ("Endpoint = a.example:1\nEndpoint = b.example:2", "Endpoint = b.example:2"),
            ("# switch_off = everything", ""),
            ("# FRIENDLY_NAME=x\n#friendly_name =  y ", "# friendly_name = y"), ("# friendly_name =", ""),
        ])
    func equivalentPeer(one: String, other: String) throws {
        #expect(try Configuration(wgQuick: peerFile(one)) == Configuration(wgQuick: peerFile(other)))
    }

    @Test(
        "with endpoints by address and by name",
        arguments: [
            "192.0.2.1:51820", "[2001:db8::1]:1", "[fe80::1%3]:65535", "[fe80::1%wlan-0]:51820", "gw.example.com:51820",
            "gw:51820", "xn--bcher-kva.example.:51820",
        ])
    func endpoints(text: String) throws {
        let peer = try #require(try Configuration(wgQuick: peerFile("Endpoint = \(text)")).peers.first)
        let endpoint = try #require(peer.endpoint)
        #expect(endpoint.description == text)
        switch endpoint {
        case .address(let address): #expect(text.contains("\(address.address)"))
        case .name(let host, let port): #expect(text == "\(host):\(port)" || text == "[\(host)]:\(port)")
        }
    }

    @Test("and a second section with the same public key updates the peer as wg does")
    func mergedPeers() throws {
        let configuration = try Configuration(
            wgQuick: peerFile(
                "Endpoint = 192.0.2.1:1", "AllowedIPs = 10.0.0.0/8", "PersistentKeepalive = 5",
                "PresharedKey = \(examplePresharedKey)", "# friendly_name = first",
                "[Peer]", "PublicKey = \(examplePeerKeys[1])", "AllowedIPs = 12.0.0.0/8",
                "[Peer]", "AllowedIPs = 11.0.0.0/8", "PublicKey = \(examplePeerKeys[0])", "PersistentKeepalive = off"))
        #expect(configuration.peers.map(\.publicKey.base64) == examplePeerKeys)
        let peer = configuration.peers[0]
        #expect(peer.allowedIPs.map(\.description) == ["11.0.0.0/8"])
        #expect(peer.endpoint?.description == "192.0.2.1:1")
        #expect(peer.presharedKey?.base64 == examplePresharedKey)
        #expect(peer.persistentKeepalive == 0)
        #expect(peer.friendlyName == "first")
    }

    @Test("and written again without a change of meaning")
    func roundTrip() throws {
        let configuration = try Configuration(wgQuick: Self.full)
        let text = configuration.wgQuickText
        let again = try Configuration(wgQuick: text)
        #expect(again.wgQuickText == text)
        #expect(again.peers == configuration.peers)
        #expect(again.interface.hooks.map(\.command) == configuration.interface.hooks.map(\.command))
        #expect(again.interface.addresses == configuration.interface.addresses)
        #expect(again.interface.threads == configuration.interface.threads)
        #expect(again.interface.switchedOff == configuration.interface.switchedOff)
        #expect(again.interface.searchDomains == configuration.interface.searchDomains)
        #expect(again.interface.matchDomains == configuration.interface.matchDomains)
        #expect(text.contains("FwMark = 0xca6c\n"))
    }

    @Test("with 130,560 allowed IPs on repeated lines", .timeLimit(.minutes(1)))
    func largeFile() throws {
        var text = peerFile()
        for index in 0..<130_560 {
            text += "\nAllowedIPs = 10.\(index >> 16).\(index >> 8 & 255).\(index & 255)/32"
        }
        let peer = try #require(try Configuration(wgQuick: text).peers.first)
        #expect(peer.allowedIPs.count == 130_560)
        #expect(peer.allowedIPs.last?.description == "10.1.253.255/32")
    }

    @Test("and no description of it shows a secret")
    func descriptionsHideSecrets() throws {
        let configuration = try Configuration(wgQuick: Self.full)
        var dumped = ""
        dump(configuration, to: &dumped)
        let texts = [
            "\(configuration)", "\(configuration.interface)", "\(configuration.peers)",
            String(reflecting: configuration), dumped,
        ]
        for text in texts {
            #expect(!text.contains(examplePrivateKey.prefix(20)))
            #expect(!text.contains(examplePresharedKey.prefix(20)))
        }
    }
}
