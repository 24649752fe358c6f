import Foundation
import Testing
import WireGuard

@testable import SettingsPush

@Suite("The vectors of Docs/settings-push.md")
struct VectorTests {
    private static let document = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Docs/settings-push.md")

    /// The hexadecimal digits below each line `vector NAME`.
    private static func read() throws -> [String: String] {
        var vectors: [String: String] = [:]
        var name: String?
        for line in try String(contentsOf: document, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("vector ") {
                name = String(line.dropFirst(7))
            } else if let current = name, line.allSatisfy(\.isHexDigit) {
                vectors[current, default: ""] += line
            } else {
                name = nil
            }
        }
        return vectors
    }

    @Test("are what this implementation writes, all of them")
    func vectors() throws {
        let snapshot = try Examples.snapshot()
        let published = PublishedSnapshot(bytes: snapshot.canonicalBytes, epoch: Examples.epoch, serial: 7)
        let version = published.version
        let byteCount = UInt32(published.bytes.count)
        let nonce: UInt64 = 0x1122_3344_5566_7788
        func acknowledgement(_ answer: HelloAcknowledgement.Answer) -> Message.Body {
            .helloAcknowledgement(HelloAcknowledgement(nonce: nonce, capabilities: .all, answer: answer))
        }
        let bodies: [String: Message.Body] = [
            "hello": .hello(
                Hello(
                    nonce: nonce, capabilities: .all, limits: .standard, holding: .none, families: [.ipv4, .ipv6])),
            "hello-acknowledgement": acknowledgement(
                .offer(version, byteCount: byteCount, lease: .standard, inline: published.bytes)),
            "hello-acknowledgement-unchanged": acknowledgement(.unchanged(version, lease: .standard)),
            "get": .get(GetRequest(version: version, blockSize: .standard, first: 0, count: 1)),
            "block": .block(
                Block(version: version, index: 0, count: 1, byteCount: byteCount, bytes: published.bytes)),
            "result": .result(
                SettingsResult(
                    version: version, status: .filtered,
                    findings: [
                        SettingsFinding(section: 0x8002, index: 1, reason: .outsideCeiling),
                        SettingsFinding(section: 0x0010, index: 1, reason: .searchDowngraded),
                    ])),
            "result-acknowledgement": .resultAcknowledgement(version), "notify": .notify(version),
            "release": .release, "release-acknowledgement": .releaseAcknowledgement,
            "go-away": .goAway(GoAway(action: .useAnother, delaySeconds: 30)),
            "go-away-acknowledgement": .goAwayAcknowledgement, "error": .error(.staleVersion),
        ]
        var expected = bodies.mapValues { hex(Message(transaction: 0x0102_0304, body: $0).bytes) }
        expected["snapshot"] = hex(published.bytes)
        var digest = WireWriter()
        digest.write(version.digest)
        expected["digest"] = hex(digest.bytes)
        let ends = try Self.keys.map { ControlPacket.address(of: try #require(PublicKey(base64: $0))) }
        #expect(ends.map(\.description) == ["fe80::c729:825a:bccd:c043", "fe80::3997:e209:161e:b027"])
        let release = Message(transaction: 0x0102_0304, body: .release).bytes
        expected["packet"] = hex(ControlPacket.make(message: release, from: ends[0], to: ends[1]))
        #expect(try Self.read() == expected)
    }

    private static let keys = [
        "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=",
    ]

    @Test("make packets that are taken in whole or not at all")
    func packet() throws {
        let ends = try Self.keys.map { ControlPacket.address(of: try #require(PublicKey(base64: $0))) }
        let message = Message(transaction: 1, body: .release).bytes
        let packet = ControlPacket.make(message: message, from: ends[0], to: ends[1])
        #expect(ControlPacket.message(in: packet, from: ends[0], to: ends[1]) == message)
        #expect(ControlPacket.message(in: packet + [0, 0, 0], from: ends[0], to: ends[1]) == message, "padding")
        #expect(ControlPacket.message(in: packet, from: ends[1], to: ends[0]) == nil)
        // Traffic class, flow label and hop limit are nobody's concern here.
        for index in packet.indices where index > 3 && index != 7 {
            var changed = packet
            changed[index] ^= 1
            #expect(ControlPacket.message(in: changed, from: ends[0], to: ends[1]) == nil, "byte \(index)")
        }
        for count in 0..<packet.count {
            #expect(ControlPacket.message(in: Array(packet.prefix(count)), from: ends[0], to: ends[1]) == nil)
        }
    }
}
