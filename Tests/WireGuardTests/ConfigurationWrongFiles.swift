import Testing

/// A file, and its first error: line, start of the message, part of what was expected.
struct WrongFile: Sendable, CustomTestStringConvertible {
    let text: String
    let line: Int
    let message: String
    let expectation: String

    init(_ text: String, _ line: Int, _ message: String, _ expectation: String) {
        self.text = text
        self.line = line
        self.message = message
        self.expectation = expectation
    }

    var testDescription: String { message }

    static let all = [
        // Values of [Interface], in line 3.
        WrongFile(interfaceFile("ListenPort = 65536"), 3, "ListenPort cannot be '65536'", "a port from 0 to 65535"),
        WrongFile(interfaceFile("ListenPort = domain"), 3, "ListenPort cannot be 'domain'", "a port"),
        WrongFile(interfaceFile("ListenPort ="), 3, "ListenPort has no value", "a port"),
        WrongFile(interfaceFile("ListenPort = # 5"), 3, "ListenPort has no value", "a port"),
        WrongFile(interfaceFile("FwMark = 0x1ffffffff"), 3, "FwMark cannot be '0x1ffffffff'", "off, a number"),
        WrongFile(interfaceFile("FwMark = 0x"), 3, "FwMark cannot be '0x'", "off, a number"),
        WrongFile(interfaceFile("FwMark = 0x+1"), 3, "FwMark cannot be '0x+1'", "off, a number"),
        WrongFile(interfaceFile("FwMark = -1"), 3, "FwMark cannot be '-1'", "off, a number"),
        WrongFile(
            interfaceFile("Address = 10.0.0.1/24, 10.0.0.1/33"), 3, "Address cannot be '10.0.0.1/33'",
            "addresses such as"),
        WrongFile(interfaceFile("Address = 10.0.0.256"), 3, "Address cannot be '10.0.0.256'", "addresses"),
        WrongFile(interfaceFile("Address = fd00::1/24/1"), 3, "Address cannot be 'fd00::1/24/1'", "addresses"),
        WrongFile(
            interfaceFile("DNS = 10.0.0.1, 10.0.0"), 3, "DNS cannot be '10.0.0'", "server addresses and search domains"),
        WrongFile(interfaceFile("DNS = fd00::zz"), 3, "DNS cannot be 'fd00::zz'", "server addresses"),
        WrongFile(interfaceFile("DNS = -a.example"), 3, "DNS cannot be '-a.example'", "server addresses"),
        WrongFile(interfaceFile("DNS = a..example"), 3, "DNS cannot be 'a..example'", "server addresses"),
        WrongFile(interfaceFile("DNS = bücher.example"), 3, "DNS cannot be 'b??cher.example'", "server addresses"),
        WrongFile(interfaceFile("MTU = 575"), 3, "MTU cannot be '575'", "576 to 65535"),
        WrongFile(interfaceFile("MTU = 65536"), 3, "MTU cannot be '65536'", "576 to 65535"),
        WrongFile(interfaceFile("MTU = 14OO"), 3, "MTU cannot be '14OO'", "576 to 65535"),
        WrongFile(interfaceFile("Table = 0"), 3, "Table cannot be '0'", "off, auto, main"),
        WrongFile(interfaceFile("Table = 0x0"), 3, "Table cannot be '0x0'", "off, auto, main"),
        WrongFile(interfaceFile("Table = vpn"), 3, "Table cannot be 'vpn'", "off, auto, main"),
        WrongFile(interfaceFile("SaveConfig = yes"), 3, "SaveConfig cannot be 'yes'", "true or false"),
        WrongFile(
            interfaceFile("PrivateKey = short="), 3, "the value of PrivateKey is not a key", "44 characters of base64"),
        WrongFile(interfaceFile("PrivateKey ="), 3, "PrivateKey has no value", "44 characters of base64"),
        WrongFile(
            interfaceFile("# switch_off = udp_gso, tun_gro"), 3, "# switch_off cannot be 'tun_gro'",
            "some of tun_tso, tun_uso, udp_gso, udp_gro, wide_aead"),
        WrongFile(interfaceFile("# threads = 0"), 3, "# threads cannot be '0'", "a number from 1 to 16"),
        WrongFile(interfaceFile("# threads = 17"), 3, "# threads cannot be '17'", "a number from 1 to 16"),
        WrongFile(interfaceFile("# threads = many"), 3, "# threads cannot be 'many'", "a number from 1 to 16"),
        WrongFile(
            interfaceFile("# match_domains = corp.example, ~lab.example"), 3,
            "# match_domains cannot be '~lab.example'",
            "domains, separated by commas"),
        // Values of [Peer], in line 5.
        WrongFile(
            peerFile("PublicKey = \(examplePrivateKey)="), 5, "the value of PublicKey is not a key", "44 characters"),
        WrongFile(peerFile("PresharedKey = none"), 5, "the value of PresharedKey is not a key", "44 characters"),
        WrongFile(peerFile("AllowedIPs = 10.0.0.0/33"), 5, "AllowedIPs cannot be '10.0.0.0/33'", "networks such as"),
        WrongFile(peerFile("AllowedIPs = 10.0.0.0/8,"), 5, "AllowedIPs cannot be ''", "networks such as"),
        WrongFile(
            peerFile("AllowedIPs = 10.0.0.0/8 11.0.0.0/8"), 5, "AllowedIPs cannot be '10.0.0.0/8 11.0.0.0/8'", "commas"),
        WrongFile(peerFile("AllowedIPs = fd00::/129"), 5, "AllowedIPs cannot be 'fd00::/129'", "networks"),
        WrongFile(peerFile("AllowedIPs = 010.0.0.0/8"), 5, "AllowedIPs cannot be '010.0.0.0/8'", "networks"),
        WrongFile(peerFile("AllowedIPs = 10.0.0.0/ 8"), 5, "AllowedIPs cannot be '10.0.0.0/ 8'", "networks"),
        WrongFile(
            peerFile("AllowedIPs = +10.0.0.0/8"), 5, "AllowedIPs '+10.0.0.0/8' changes a running tunnel",
            "without + or -"),
        WrongFile(peerFile("AllowedIPs = ::/0, -fd00::/8"), 5, "AllowedIPs '-fd00::/8' changes", "without + or -"),
        WrongFile(peerFile("Endpoint = 192.0.2.1"), 5, "Endpoint cannot be '192.0.2.1'", "address:port"),
        WrongFile(peerFile("Endpoint = 192.0.2.1:0"), 5, "Endpoint cannot be '192.0.2.1:0'", "a port from 1 to 65535"),
        WrongFile(peerFile("Endpoint = 192.0.2:51820"), 5, "Endpoint cannot be '192.0.2:51820'", "address:port"),
        WrongFile(
            peerFile("Endpoint = 2001:db8::1:51820"), 5, "Endpoint cannot be '2001:db8::1:51820'", "[IPv6 address]:port"
        ),
        WrongFile(peerFile("Endpoint = [2001:db8::1]"), 5, "Endpoint cannot be '[2001:db8::1]'", "[IPv6 address]:port"),
        WrongFile(peerFile("Endpoint = [192.0.2.1]:5"), 5, "Endpoint cannot be '[192.0.2.1]:5'", "[IPv6 address]:port"),
        WrongFile(
            peerFile("Endpoint = [fe80::1%a/b]:5"), 5, "Endpoint cannot be '[fe80::1%a/b]:5'", "[IPv6 address]:port"),
        WrongFile(peerFile("Endpoint = [:5"), 5, "Endpoint cannot be '[:5'", "[IPv6 address]:port"),
        WrongFile(peerFile("Endpoint = :51820"), 5, "Endpoint cannot be ':51820'", "name:port"),
        WrongFile(peerFile("Endpoint = gw.example:wg"), 5, "Endpoint cannot be 'gw.example:wg'", "name:port"),
        WrongFile(peerFile("Endpoint = g w.example:1"), 5, "Endpoint cannot be 'g w.example:1'", "name:port"),
        WrongFile(peerFile("Endpoint ="), 5, "Endpoint has no value", "name:port"),
        WrongFile(
            peerFile("PersistentKeepalive = 65536"), 5, "PersistentKeepalive cannot be '65536'",
            "off or a number of seconds"),
        WrongFile(peerFile("PersistentKeepalive = on"), 5, "PersistentKeepalive cannot be 'on'", "off or a number"),
        // Shape.
        WrongFile("", 1, "there is no [Interface] section", "one, with a PrivateKey"),
        WrongFile("# nothing\n\n", 2, "there is no [Interface] section", "one"),
        WrongFile("[Peer]\nPublicKey = \(examplePeerKeys[0])\n", 2, "there is no [Interface] section", "one"),
        WrongFile("\n[Interface]\nListenPort = 1\n", 2, "the [Interface] section has no PrivateKey", "one"),
        WrongFile(interfaceFile("[Peer]", "Endpoint = a:1", "[Peer]"), 3, "the [Peer] section has no PublicKey", "one"),
        WrongFile(interfaceFile("", "[INTERFACE]"), 4, "a second [Interface] section, the first is in line 1", "one"),
        WrongFile(interfaceFile("[Network]"), 3, "there is no section [Network]", "[Interface] or [Peer]"),
        WrongFile(interfaceFile("[Peer"), 3, "there is no section [Peer", "[Interface] or [Peer]"),
        WrongFile(interfaceFile("["), 3, "there is no section [", "[Interface] or [Peer]"),
        WrongFile(interfaceFile("[]"), 3, "there is no section []", "[Interface] or [Peer]"),
        WrongFile(interfaceFile("ListenPort 5"), 3, "'ListenPort' is not an assignment", "'key = value'"),
        WrongFile(interfaceFile("ListenPort # = 5"), 3, "'ListenPort' is not an assignment", "'key = value'"),
        WrongFile(
            interfaceFile("= 5"), 3, "there is no key '' in [Interface]", "one of PrivateKey, ListenPort, FwMark"),
        WrongFile(interfaceFile("Jc = 4"), 3, "there is no key 'Jc' in [Interface]", "one of PrivateKey, ListenPort"),
        WrongFile(
            peerFile("Allowed IPs = ::/0"), 5, "there is no key 'Allowed' in [Peer]", "one of AllowedIPs, PublicKey"),
        WrongFile(peerFile("MTU = 1420"), 5, "MTU stands in the wrong section", "it in [Interface]"),
        WrongFile(peerFile("PostUp = true"), 5, "PostUp stands in the wrong section", "it in [Interface]"),
        WrongFile(interfaceFile("Endpoint = a:1"), 3, "Endpoint stands in the wrong section", "it in [Peer]"),
        WrongFile("MTU = 1420", 1, "MTU stands before the first section", "it in [Interface]"),
        WrongFile("Gateway = 1", 1, "there is no key 'Gateway'", "[Interface] or [Peer] first"),
        WrongFile(
            interfaceFile("PostUp = echo \u{7}"), 3, "the line holds bytes that are not text", "UTF-8 without control"),
        WrongFile(
            interfaceFile("MTU = 14\u{0}20"), 3, "the line holds bytes that are not text", "UTF-8 without control"),
    ]
}
