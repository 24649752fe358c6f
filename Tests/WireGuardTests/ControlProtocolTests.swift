import Testing

@testable import WireGuard

/// The control protocol's requests and replies: pure text, read in pieces of any size.
@Suite("The control protocol")
struct ControlProtocolTests {
    private let key = String(repeating: "ab", count: 32)
    private let zero = String(repeating: "0", count: 64)

    private func read(_ text: String) -> [ControlRequest] {
        var parser = ControlRequestParser()
        return parser.read(text.utf8)
    }

    /// The settings of one `set` with these lines.
    private func settings(_ lines: String...) throws -> ControlSettings {
        let requests = read("set=1\n" + lines.map { $0 + "\n" }.joined() + "\n")
        guard requests.count == 1, case .set(let settings) = requests[0] else {
            throw Unreadable(requests: requests)
        }
        return settings
    }

    private struct Unreadable: Error { let requests: [ControlRequest] }

    @Test("Every key of the interface")
    func interfaceKeys() throws {
        let read = try settings("private_key=\(key)", "listen_port=65535", "fwmark=4294967295", "replace_peers=true")
        let secret = try #require(Key256(hex: key))
        #expect(read.privateKey == .set(PrivateKey(secret)))
        #expect(read.listenPort == 65_535 && read.firewallMark == .max && read.replacesPeers && read.peers.isEmpty)
        #expect(try settings("private_key=\(zero)").privateKey == .clear)
        #expect(try settings() == ControlSettings())
    }

    @Test("Every key of a peer")
    func peerKeys() throws {
        let read = try settings(
            "public_key=\(key)", "preshared_key=\(zero)", "endpoint=[2001:db8::1]:51820",
            "persistent_keepalive_interval=25", "allowed_ip=10.9.0.0/16", "replace_allowed_ips=true",
            "allowed_ip=10.1.2.3/8", "allowed_ip=-fd00::/8", "update_only=true", "protocol_version=1")
        let peer = try #require(read.peers.first)
        let secret = try #require(peer.presharedKey)
        #expect(peer.publicKey.key.hex == key && secret.isZero && peer.keepaliveInterval == 25)
        #expect(peer.endpoint?.description == "[2001:db8::1]:51820" && peer.updatesOnly && !peer.isRemoved)
        // What was named before the old ones go is replaced as well.
        #expect(peer.replacesAllowedIPs && peer.allowedIPs.map(\.isRemoval) == [false, true])
        #expect(peer.allowedIPs.map { $0.prefix.description } == ["10.0.0.0/8", "fd00::/8"])
        #expect(try settings("public_key=\(key)", "remove=true").peers.first?.isRemoved == true)
        let zoned = try settings("public_key=\(key)", "endpoint=[fe80::1%wlan-0]:7").peers.first?.endpoint
        #expect(zoned == .name("fe80::1%wlan-0", port: 7))
    }

    @Test(
        "Lines that are refused",
        arguments: [
            "private_key=ab", "listen_port=65536", "listen_port=-1", "listen_port=", "fwmark=4294967296", "fwmark=0x1",
            "replace_peers=false", "public_key=xy", "no_key", "=", "unknown=1", "set=1", "remove=true",
            "allowed_ip=10.0.0.0/8", String(repeating: "x", count: 300),
        ])
    func badInterfaceLines(line: String) { #expect(read("set=1\n\(line)\n\n") == [.refused(isSet: true, .invalid)]) }

    @Test(
        "Lines about a peer that are refused",
        arguments: [
            "preshared_key=0", "endpoint=example.com:1", "endpoint=1.2.3.4", "endpoint=1.2.3.4:65536",
            "endpoint=[fe80::1%]:1", "endpoint=[::1%a/b]:1", "persistent_keepalive_interval=off",
            "persistent_keepalive_interval=65536", "allowed_ip=", "allowed_ip=--10.0.0.0/8", "allowed_ip=10.0.0.0/33",
            "remove=1", "update_only=false", "replace_allowed_ips=", "protocol_version=2", "listen_port=1",
            "private_key=0", "replace_peers=true",
        ])
    func badPeerLines(line: String) {
        #expect(read("set=1\npublic_key=\(key)\n\(line)\n\n") == [.refused(isSet: true, .invalid)])
    }

    @Test("Operations that are wrong leave the next one alone")
    func severalOperations() {
        let text =
            "get=1\n\nget=view\n\nget=settings\n\nset=1\nlisten_port=x\nlisten_port=1\n\nfoo=1\n\nget=1\na=b\n\n\nset=1\nlisten_port=2\n\nget=1\n"
        var wanted = ControlSettings()
        wanted.listenPort = 2
        #expect(
            read(text) == [
                .get, .view, .settings, .refused(isSet: true, .invalid), .refused(isSet: false, .invalid),
                .refused(isSet: false, .invalid), .set(wanted),
            ])
    }

    @Test("Pieces of any size give the same operations")
    func pieces() {
        let text = Array("set=1\nlisten_port=7\npublic_key=\(key)\nallowed_ip=1.2.3.4/32\n\nget=1\n\nx\n\n".utf8)
        let whole = read(String(decoding: text, as: UTF8.self))
        #expect(whole.count == 3)
        for size in 1...text.count {
            var parser = ControlRequestParser()
            var requests: [ControlRequest] = []
            for start in stride(from: 0, to: text.count, by: size) {
                requests += parser.read(text[start..<min(start + size, text.count)])
            }
            #expect(requests == whole)
        }
    }

    @Test("An operation of too many lines is refused, and the next one is not")
    func tooManyLines() {
        var parser = ControlRequestParser()
        var requests = parser.read("set=1\npublic_key=\(key)\n".utf8)
        let lines = Array("protocol_version=1\n".utf8)
        let block = [UInt8](Array(repeating: lines, count: 1024).joined())
        for _ in 0...ControlRequestParser.changeLimit / 1024 { requests += parser.read(block) }
        requests += parser.read("\nget=1\n\n".utf8)
        #expect(requests == [.refused(isSet: true, .tooMany), .get])
    }

    @Test("Parts of a change are applied one after the other to the same end", arguments: [1, 2, 3, 7, 1000])
    func parts(limit: Int) throws {
        let lines = (0..<20).map { "allowed_ip=10.0.\($0).0/24" }
        let other = String(repeating: "cd", count: 32)
        let text = [
            "set=1", "private_key=\(key)", "replace_peers=true", "public_key=\(key)", "replace_allowed_ips=true",
        ]
        let requests = read((text + lines + ["public_key=\(other)", "remove=true", "", ""]).joined(separator: "\n"))
        guard case .set(let settings) = requests[0] else { throw Unreadable(requests: requests) }
        let parts = settings.parts(of: limit)
        #expect(parts.allSatisfy { part in part.peers.reduce(0) { $0 + 1 + $1.allowedIPs.count } <= max(limit, 2) + 1 })
        #expect(parts[0].replacesPeers && parts.dropFirst().allSatisfy { !$0.replacesPeers && $0.privateKey == .keep })
        let pieces = parts.flatMap(\.peers)
        #expect(pieces.flatMap(\.allowedIPs) == settings.peers.flatMap(\.allowedIPs))
        #expect(pieces.filter(\.replacesAllowedIPs).count == 1 && pieces[0].replacesAllowedIPs)
        #expect(pieces.last?.isRemoved == true)
        #expect(pieces.dropFirst().dropLast().allSatisfy { $0.publicKey.key.hex == key && $0.updatesOnly })
    }

    @Test("A reply has the lines of the protocol, and secrets only where they are wanted")
    func reply() throws {
        let secret = PrivateKey(try #require(Key256(hex: key)))
        let interface = InterfaceStatus(privateKey: secret, listenPort: 51_820, firewallMark: 0)
        #expect(interface.lines(.everything) == "private_key=\(secret.key.hex)\nlisten_port=51820\n")
        #expect(interface.lines(.withoutSecrets) == "listen_port=51820\n")
        #expect(InterfaceStatus(privateKey: nil, listenPort: 0, firewallMark: 0).lines(.everything) == "")

        var device = Device(timestamps: TimestampGuard(last: .zero))
        let endpoint = try #require(Endpoint("192.0.2.1:7"))
        let added = device.addPeer(secret.publicKey, endpoint: endpoint)
        let index = try #require(added)
        let found = device.description(of: index)
        let description = try #require(found)
        let prefix = try #require(IPPrefix("10.0.0.0/8"))
        let peer = PeerStatus(
            description: description, endpoint: endpoint, traffic: PeerTraffic(), allowedIPs: [prefix])
        #expect(
            peer.lines(.everything) + PeerStatus.lines(of: peer.allowedIPs) == """
                public_key=\(secret.publicKey.key.hex)
                preshared_key=\(zero)
                protocol_version=1
                endpoint=192.0.2.1:7
                last_handshake_time_sec=0
                last_handshake_time_nsec=0
                tx_bytes=0
                rx_bytes=0
                persistent_keepalive_interval=0
                allowed_ip=10.0.0.0/8

                """)
        #expect(!peer.lines(.withoutSecrets).contains("preshared") && !peer.lines(.view).contains("preshared"))
        #expect(
            interface.lines(.view) == "own_public_key=\(secret.publicKey.key.hex)\nlisten_port=51820\n")
        #expect(ControlRequest.trailer(.portInUse, isSet: true) == "errno=-98\n\n")
        #expect(ControlRequest.trailer(.invalid, isSet: false) == "errno=22\n\n")
    }
}
