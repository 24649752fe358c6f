import Testing
import WireGuard

@testable import SettingsPush

@Suite("Messages")
struct MessageTests {
    static let version = SnapshotVersion(epoch: Examples.epoch, serial: 7, digest: 0xabcd)

    static let all: [Message.Body] = [
        .hello(
            Hello(nonce: 1, capabilities: .all, limits: .standard, holding: .none, families: [.ipv4, .ipv6])),
        .helloAcknowledgement(
            HelloAcknowledgement(
                nonce: 1, capabilities: .all,
                answer: .offer(version, byteCount: 3, lease: .standard, inline: [1, 2, 3]))),
        .helloAcknowledgement(
            HelloAcknowledgement(
                nonce: 2, capabilities: .all, answer: .offer(version, byteCount: 5000, lease: .permanent, inline: nil))),
        .helloAcknowledgement(
            HelloAcknowledgement(nonce: 3, capabilities: [], answer: .unchanged(version, lease: .standard))),
        .helloAcknowledgement(HelloAcknowledgement(nonce: 4, capabilities: [], answer: .refused(.capabilityMissing))),
        .helloAcknowledgement(
            HelloAcknowledgement(nonce: 5, capabilities: [], answer: .poolExhausted(retryAfterSeconds: 60))),
        .helloAcknowledgement(HelloAcknowledgement(nonce: 6, capabilities: [], answer: .busy(retryAfterSeconds: 1))),
        .get(GetRequest(version: version, blockSize: .small, first: 3, count: 64)),
        .block(Block(version: version, index: 1, count: 3, byteCount: 2500, bytes: Array(repeating: 7, count: 1024))),
        .result(
            SettingsResult(
                version: version, status: .filtered,
                findings: [SettingsFinding(section: 0x8002, index: 4, reason: .defaultRoute)])),
        .result(SettingsResult(version: version, status: .applied, findings: [])),
        .resultAcknowledgement(version), .notify(version), .release, .releaseAcknowledgement,
        .goAway(GoAway(action: .useAnother, delaySeconds: 30)), .goAwayAcknowledgement, .error(.staleVersion),
    ]

    @Test("come back from their bytes, and have one spelling", arguments: all)
    func roundTrip(body: Message.Body) throws {
        let message = Message(transaction: 0x0102_0304, body: body)
        let bytes = message.bytes
        #expect(bytes.count <= Message.maximumByteCount)
        let again = try Message(bytes: bytes)
        #expect(again == message)
        #expect(again.bytes == bytes)
    }

    @Test("are refused when any byte is missing or one is added", arguments: all)
    func lengths(body: Message.Body) throws {
        let bytes = Message(transaction: 9, body: body).bytes
        for count in 0..<bytes.count {
            let cut = try? Message(bytes: Array(bytes.prefix(count)))
            // A value that may be left out ends where the message may end.
            if let cut { #expect(cut.bytes == Array(bytes.prefix(count))) }
        }
        #expect(throws: SettingsFinding.self) { try Message(bytes: bytes + [0]) }
    }

    @Test(
        "that are not canonical are refused with the reason",
        arguments: [
            ("another version", "02 01 0000 00000001 0000 0000 00000000", ReasonCode.unsupportedVersion),
            ("an unknown type", "01 0d 0000 00000001 0000 0000 00000000", .unknownMessage),
            ("flags", "01 08 0001 00000001 0000 0000 00000000", .nonCanonical),
            ("a block index where none belongs", "01 08 0000 00000001 0001 0000 00000000", .nonCanonical),
            ("a length where none belongs", "01 08 0000 00000001 0000 0000 00000001", .nonCanonical),
            ("an unknown critical value", "01 08 0000 00000001 0000 0000 00000000 9000 0000", .unknownCritical),
            (
                "a value that does not belong", "01 08 0000 00000001 0000 0000 00000000 8001 0008 0000000000000001",
                .badValue
            ),
            (
                "a value twice", "01 0a 0000 00000001 0000 0000 00000000 800f 0005 0000000000 800f 0005 0000000000",
                .duplicate
            ),
            (
                "values out of order", "01 0a 0000 00000001 0000 0000 00000000 8010 0002 0000 800f 0005 0000000000",
                .unsorted
            ),
            ("a missing value", "01 0a 0000 00000001 0000 0000 00000000", .missing),
            ("an unknown action", "01 0a 0000 00000001 0000 0000 00000000 800f 0005 0900000000", .badValue),
            ("a value that ends early", "01 0a 0000 00000001 0000 0000 00000000 800f 0005 00", .truncated),
        ])
    func refused(name: String, text: String, reason: ReasonCode) throws {
        let bytes = try bytes(hex: text)
        #expect(try finding { _ = try Message(bytes: bytes) }.reason == reason, "\(name)")
    }

    @Test("with a lease that no gateway grants are refused", arguments: [UInt32(1), 59, 31_622_401, .max])
    func leases(seconds: UInt32) throws {
        let body = HelloAcknowledgement(nonce: 3, capabilities: [], answer: .unchanged(Self.version, lease: .standard))
        var bytes = Message(transaction: 1, body: .helloAcknowledgement(body)).bytes
        // The lease is the last value.
        bytes.replaceSubrange(
            bytes.count - 4..<bytes.count, with: (0..<4).map { UInt8(seconds >> (24 - 8 * $0) & 255) })
        let found = try finding { _ = try Message(bytes: bytes) }
        #expect(found.reason == .badValue)
        #expect((60...31_622_400).contains(LeaseDuration(seconds: seconds).seconds))
    }

    @Test("with unknown values that need not be understood are taken")
    func unknownValue() throws {
        let bytes = try bytes(hex: "01 08 0000 00000001 0000 0000 00000000 0011 0003 010203")
        #expect(try Message(bytes: bytes).body == .release)
    }

    @Test("that a gateway cannot read are answered with an ERROR, but never an ERROR with another")
    func gatewayRefuses() throws {
        var gateway = GatewayMachine(seed: 1)
        var registry = Registry(epoch: 1)
        func answer(_ text: String) throws -> [GatewayOutput] {
            gateway.handleMessage(try bytes(hex: text), from: PushWorld.peer, now: .zero, source: &registry)
            var outputs: [GatewayOutput] = []
            while let output = gateway.pollOutput() { outputs.append(output) }
            return outputs
        }
        let expected = Message(transaction: 5, body: .error(.unknownCritical)).bytes
        #expect(
            try answer("01 08 0000 00000005 0000 0000 00000000 9000 0000") == [.send(expected, to: PushWorld.peer)])
        #expect(try answer("01 0c 0000 00000005 0000 0000 00000000 9000 0000").isEmpty)
        #expect(try answer("0108").isEmpty)
        #expect(gateway.droppedMessages[.unknownCritical] == 2)
    }

    @Test("of 2,000 peers are answered within a second, and of 10,000 in all with a change for each")
    func load() throws {
        var gateway = GatewayMachine(seed: 1)
        var registry = Registry(epoch: 1)
        registry.publish(try Examples.snapshot().canonicalBytes)
        let keys = (0..<10_000).map { PublicKey(Key256(words: SIMD4($0, 1, 1, 1))) }
        let now = Instant.zero + .seconds(100)
        let hello = Message(
            transaction: 1,
            body: .hello(
                Hello(nonce: 1, capabilities: .all, limits: .standard, holding: .none, families: [.ipv4, .ipv6])))
        func count() -> Int {
            var count = 0
            while gateway.pollOutput() != nil { count += 1 }
            return count
        }
        for key in keys {
            gateway.sessionUp(key, now: now)
            gateway.snapshotChanged(of: key, now: now)
        }
        gateway.handleTimeout(now: now + .milliseconds(251), source: &registry)
        #expect(count() == 10_000)
        let time = ContinuousClock().measure {
            for key in keys {
                gateway.handleMessage(hello.bytes, from: key, now: now + .milliseconds(300), source: &registry)
                _ = gateway.nextTimeout
            }
        }
        #expect(count() == 10_000)
        // Without optimisation, on a machine that does other things too.
        #expect(time < .seconds(5), "\(time)")
    }

    @Test("to one peer are limited to 64 KiB at once and 8 kB a second")
    func budget() throws {
        var gateway = GatewayMachine(seed: 1)
        var registry = Registry(epoch: 1)
        registry.publish(try Examples.snapshot(routes: 10_000).canonicalBytes)
        let version = try #require(registry.current?.version)
        let get = Message(
            transaction: 1, body: .get(GetRequest(version: version, blockSize: .standard, first: 0, count: 49)))
        func bytesSent(at now: Instant) -> Int {
            gateway.handleMessage(get.bytes, from: PushWorld.peer, now: now, source: &registry)
            var sum = 0
            while let output = gateway.pollOutput() { if case .send(let bytes, _) = output { sum += bytes.count } }
            return sum
        }
        var sent = 0
        for _ in 0..<10 { sent += bytesSent(at: .zero) }
        #expect(sent > 60_000 && sent <= 65_536)
        sent = 0
        for second in 1...UInt64(10) { sent += bytesSent(at: .zero + .seconds(second)) }
        #expect(sent > 70_000 && sent <= 81_000)
    }
}
