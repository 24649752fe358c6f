import Foundation
import ProviderKit
import Testing

@testable import HostRuntime
@testable import LoopbackProvider

@Suite("Loopback provider", .timeLimit(.minutes(1))) struct WorkerLoopbackTests {
    /// The Internet checksum of big-endian words (RFC 1071), with which a correct message sums to 0.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 + (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
        }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return ~UInt16(sum)
    }

    static let near4: [UInt8] = [10, 99, 0, 1]
    static let far4: [UInt8] = [10, 99, 0, 2]
    static let near6: [UInt8] = [0xfd, 0x99] + [UInt8](repeating: 0, count: 13) + [1]
    static let far6: [UInt8] = [0xfd, 0x99] + [UInt8](repeating: 0, count: 13) + [2]

    static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

    /// An IP packet around a message whose checksum field at `checksumAt` is filled in.
    static func packet(
        from source: [UInt8], to destination: [UInt8], protocol number: UInt8, _ message: [UInt8], checksumAt: Int
    ) -> [UInt8] {
        var message = message
        let pseudo = number == 1 ? [] : source + destination + word(message.count) + [0, number]
        let sum = word(Int(checksum(pseudo + message)))
        message.replaceSubrange(checksumAt..<checksumAt + 2, with: sum)
        if source.count == 16 {
            return [0x60, 0, 0, 0] + word(message.count) + [number, 64] + source + destination + message
        }
        var header: [UInt8] =
            [0x45, 0] + word(20 + message.count) + [0, 1, 0, 0, 64, number, 0, 0] + source + destination
        header.replaceSubrange(10..<12, with: word(Int(checksum(header))))
        return header + message
    }

    static func echo(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] { [type, 0, 0, 0, 1, 2, 3, 4] + payload }
    static func udp(_ source: Int, _ destination: Int, _ payload: [UInt8]) -> [UInt8] {
        word(source) + word(destination) + word(8 + payload.count) + [0, 0] + payload
    }

    /// The provider's answer, or nil.
    static func answer(_ packet: [UInt8]) -> [UInt8]? {
        var bytes = packet
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        guard LoopbackProvider.answer(&raw) else { return nil }
        return bytes
    }

    @Test("Echo requests become the replies that the far end would have sent", arguments: [0, 1, 56, 57, 1472])
    func echo(length: Int) {
        for seed in 0..<50 {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed &* 31) }
            let request4 = Self.packet(
                from: Self.near4, to: Self.far4, protocol: 1, Self.echo(8, payload), checksumAt: 2)
            let reply4 = Self.packet(
                from: Self.far4, to: Self.near4, protocol: 1, Self.echo(0, payload), checksumAt: 2)
            #expect(Self.answer(request4) == reply4)
            let request6 = Self.packet(
                from: Self.near6, to: Self.far6, protocol: 58, Self.echo(128, payload), checksumAt: 2)
            let reply6 = Self.packet(
                from: Self.far6, to: Self.near6, protocol: 58, Self.echo(129, payload), checksumAt: 2)
            #expect(Self.answer(request6) == reply6)
        }
    }

    @Test("UDP datagrams come back from where they went", arguments: [0, 1, 100])
    func udp(length: Int) {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        #expect(
            Self.answer(
                Self.packet(from: Self.near4, to: Self.far4, protocol: 17, Self.udp(1000, 53, payload), checksumAt: 6))
                == Self.packet(
                    from: Self.far4, to: Self.near4, protocol: 17, Self.udp(53, 1000, payload), checksumAt: 6))
        #expect(
            Self.answer(
                Self.packet(from: Self.near6, to: Self.far6, protocol: 17, Self.udp(9, 65535, payload), checksumAt: 6))
                == Self.packet(
                    from: Self.far6, to: Self.near6, protocol: 17, Self.udp(65535, 9, payload), checksumAt: 6))
    }

    @Test("A TCP segment turns round with its ports: to any other address is to the interface's own")
    func tcp() {
        let segment = Self.word(1000) + Self.word(80) + [UInt8](repeating: 7, count: 30)
        #expect(
            Self.answer(Self.packet(from: Self.near4, to: Self.far4, protocol: 6, segment, checksumAt: 16))
                == Self.packet(from: Self.far4, to: Self.near4, protocol: 6, segment, checksumAt: 16))
        #expect(
            Self.answer(Self.packet(from: Self.near6, to: Self.far6, protocol: 6, segment, checksumAt: 16))
                == Self.packet(from: Self.far6, to: Self.near6, protocol: 6, segment, checksumAt: 16))
    }

    @Test("Everything else gets no answer")
    func noAnswer() {
        let ping = Self.packet(from: Self.near4, to: Self.far4, protocol: 1, Self.echo(8, [1, 2]), checksumAt: 2)
        var fragment = ping
        fragment[6] = 0x20
        var tail = ping
        tail[7] = 1
        var wrongLength = ping
        wrongLength[3] += 1
        var multicast = ping
        multicast[16] = 224
        var options = ping
        options[0] = 0x44
        var code = ping
        code[21] = 1
        var shortUDP = Self.packet(from: Self.near4, to: Self.far4, protocol: 17, Self.udp(1, 2, []), checksumAt: 6)
        shortUDP[25] = 9
        let shortTCP = Self.packet(
            from: Self.near4, to: Self.far4, protocol: 6, [UInt8](repeating: 0, count: 19), checksumAt: 16)
        let reply = Self.packet(from: Self.near4, to: Self.far4, protocol: 1, Self.echo(0, []), checksumAt: 2)
        let extensionHeader = Self.packet(
            from: Self.near6, to: Self.far6, protocol: 44, Self.echo(128, []), checksumAt: 2)
        let cases = [
            fragment, tail, wrongLength, multicast, options, code, shortUDP, shortTCP, reply, extensionHeader,
            Array(ping.prefix(27)), [], [0x45],
        ]
        for packet in cases { #expect(Self.answer(packet) == nil, "\(packet)") }
    }

    @Test("Any bytes of any length are answered or not, without a crash")
    func randomBytes() {
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...90)).map { _ in UInt8.random(in: 0...255) }
            if bytes.count > 6, Bool.random() {
                bytes[0] = Bool.random() ? 0x45 : 0x60
                if bytes[0] == 0x45 {
                    bytes[2...3] = [0, UInt8(bytes.count)]
                } else if bytes.count >= 40 {
                    bytes[4...5] = [0, UInt8(bytes.count - 40)]
                }
            }
            _ = Self.answer(bytes)
        }
    }

    @Test("In a worker: the settings are asked for, packets are answered, and the stop ends it")
    func inWorker() async throws {
        let harness = try WorkerHarness { LoopbackProvider(context: $0) }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: ["MTU": 1400]))
        guard case .setSettings(let id, let settings?) = try await harness.next() else {
            Issue.record("no settings were asked for")
            return
        }
        #expect(settings.mtu == 1400)
        #expect(settings.ipv4Settings == IPv4Settings(addresses: ["10.99.0.1"], subnetMasks: ["255.255.255.0"]))
        #expect(settings.ipv6Settings == IPv6Settings(addresses: ["fd99::1"], networkPrefixLengths: [64]))
        try harness.manager.send(.settingsCompleted(id: id, nil))
        #expect(try await harness.next() == .startCompleted(nil))

        let ping = Self.packet(from: Self.near4, to: Self.far4, protocol: 1, Self.echo(8, [5, 6]), checksumAt: 2)
        let pong = Self.packet(from: Self.far4, to: Self.near4, protocol: 1, Self.echo(0, [5, 6]), checksumAt: 2)
        #expect(try await harness.exchange(ping) == pong)
        #expect(try await harness.exchange(pong, milliseconds: 50) == nil)
        #expect(try await harness.exchange(ping) == pong)

        try harness.manager.send(.stop(.userInitiated))
        #expect(try await harness.next() == .stopCompleted)
        #expect(await harness.status() == 0)
    }

    @Test("A value of the wrong type fails the start and is named")
    func wrongValue() async throws {
        let harness = try WorkerHarness { LoopbackProvider(context: $0) }
        #expect(try await harness.next() == .ready)
        try harness.manager.send(.start(options: ["MTU": "large"]))
        guard case .startCompleted(let failure?) = try await harness.next() else {
            Issue.record("the start succeeded")
            return
        }
        #expect(failure.errorCode == 4 && failure.cause.contains("MTU"))
    }
}
