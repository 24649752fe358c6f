import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

/// What a worker under an attacker's control may send: every case ends the channel with its own error.
@Suite("Channel against a hostile worker") struct ChannelHostileTests {
    /// A header with fields that can be wrong.
    static func header(
        magic: String = "PHMW", version: UInt16 = Frame.version, kind: UInt16 = 101, length: UInt32 = 0,
        flags: UInt32 = 0, id: UInt64 = 0
    ) -> [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return Array(magic.utf8) + bytes(version) + bytes(kind) + bytes(length) + bytes(flags) + bytes(id)
    }

    /// Sends raw bytes as the worker and returns the manager's error.
    static func error(_ frame: [UInt8], descriptors: [Descriptor] = []) throws -> ChannelError? {
        let (manager, far) = try makeChannelPair()
        #expect(try ChannelSystem.send(far.number, header: frame, body: [], descriptors: descriptors.map(\.number)))
        do throws(ChannelError) {
            _ = try manager.receive()
            return nil
        } catch {
            // Whatever was wrong, the channel is over for both ends.
            if case .closed = try manager.receive() {} else { Issue.record("open after \(error)") }
            #expect(throws: ChannelError.closed) { try WorkerChannel(far).sendWaiting(.ready) }
            return error
        }
    }

    @Test("A frame that is as it should be is accepted")
    func goodFrame() throws {
        #expect(try Self.error(Self.header()) == nil)
    }

    @Test(
        "A malformed header is refused",
        arguments: [
            (Array(header().prefix(23)), ChannelError.truncatedHeader(length: 23)),
            ([0], .truncatedHeader(length: 1)),
            (header(magic: "PHMX"), .wrongMagic),
            (header(version: 2), .wrongVersion(2)),
            (header(kind: 0), .unknownMessage(kind: 0)),
            (header(kind: 1), .unknownMessage(kind: 1)),
            (header(kind: 116), .unknownMessage(kind: 116)),
            (header(length: 1), .wrongLength(declared: 1, actual: 0)),
            (header() + [1], .wrongLength(declared: 0, actual: 1)),
            (header(length: 0xffff_ffff), .bodyTooLong(0xffff_ffff)),
            (header(length: UInt32(Frame.bodyLimit) + 1, flags: 1), .bodyTooLong(Frame.bodyLimit + 1)),
            (header(flags: 2), .malformedBody(kind: 101, reason: "unknown flags 2")),
            (header(length: 1, flags: 1), .unsealedBody),
            (header(length: 1) + [1], .malformedBody(kind: 101, reason: "it is not empty")),
        ])
    func malformedHeader(frame: [UInt8], expected: ChannelError) throws {
        #expect(try Self.error(frame) == expected)
    }

    @Test(
        "A malformed body is refused",
        arguments: [
            (102, ""), (102, "{}"), (102, "[1]"), (102, "{\"errorDomain\":1}"), (106, "7"), (106, "tru"),
            (107, "{\"routing\":{\"x\":{}}}"), (108, "{\"port\":65536}"), (108, "{\"port\":-1}"),
            (112, "{\"level\":9}"),
            (103, String(repeating: "[", count: 60_000)), (112, "{\"level\":0,\"text\":\"\\ud800\"}"),
        ] as [(UInt16, String)])
    func malformedBody(kind: UInt16, text: String) throws {
        let frame = Self.header(kind: kind, length: UInt32(text.utf8.count)) + Array(text.utf8)
        guard case .malformedBody(kind, let reason) = try Self.error(frame) else {
            Issue.record("accepted, or refused for another reason")
            return
        }
        #expect(reason.utf8.count < 256)
    }

    @Test("A log line over its limit is refused")
    func longLogLine() throws {
        let text = "{\"level\":0,\"text\":\"\(String(repeating: "x", count: WorkerMessage.logLineLimit + 1))\"}"
        let frame = Self.header(kind: 112, length: UInt32(text.utf8.count)) + Array(text.utf8)
        #expect(try Self.error(frame) == .malformedBody(kind: 112, reason: "a line of 4097 bytes"))
    }

    @Test("A frame over the limit is refused")
    func longFrame() throws {
        let body = [UInt8](repeating: 0, count: Frame.inlineLimit + 1)
        #expect(try Self.error(Self.header(length: UInt32(body.count)) + body) == .truncated)
    }

    @Test("Memory that could still change, or is none, is no body")
    func unsealedMemory() throws {
        let frame = Self.header(kind: 110, length: 4, flags: 1)
        let name = "/providerhost-test-\(getpid())"
        let open = Descriptor(adopting: unsafe shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0o600))
        unsafe shm_unlink(name)
        #expect(ftruncate(open.number, 4) == 0)
        #expect(try Self.error(frame, descriptors: [open]) == .unsealedBody)
        let file = Descriptor(adopting: unsafe Glibc.open("/dev/zero", O_RDONLY | O_CLOEXEC))
        #expect(try Self.error(frame, descriptors: [file]) == .unsealedBody)
        let short = try ChannelSystem.sealedMemory([1, 2, 3])
        #expect(try Self.error(frame, descriptors: [short]) == .wrongLength(declared: 4, actual: 3))
        let right = try ChannelSystem.sealedMemory([1, 2, 3, 4])
        #expect(try Self.error(frame, descriptors: [right]) == nil)
    }

    @Test("Descriptors that belong to nothing are refused and closed", arguments: [1, 3, 8])
    func extraDescriptors(count: Int) throws {
        var pipes: [(read: Descriptor, write: Descriptor)] = []
        for _ in 0..<count { pipes.append(try ChannelSystem.socketPair()) }
        #expect(
            try Self.error(Self.header(), descriptors: pipes.map(\.write))
                == .wrongDescriptors(expected: 0, actual: count))
        // With our own copy closed, end of file on the other end shows that no copy is left in the receiver.
        for pipe in pipes {
            pipe.write.close()
            let received = try #require(try ChannelSystem.receive(pipe.read.number, capacity: 1))
            #expect(received.bytes.isEmpty)
        }
    }

    @Test("Random frames, and good frames with random damage, never crash")
    func randomFrames() throws {
        var generator = SystemRandomNumberGenerator()
        let seeds = try Messages.toManager.map { message in
            let frame = try Frame(message, descriptors: [])
            return frame.header + frame.body
        }
        var decoded = 0
        for round in 0..<20_000 {
            var bytes: [UInt8]
            if round % 4 == 0 {
                bytes = (0..<Int.random(in: 0...80)).map { _ in .random(in: 0...255, using: &generator) }
            } else {
                bytes = [UInt8.random(in: 0...15) & (round % 3 == 0 ? 15 : 0)] + seeds[round % seeds.count]
                for _ in 0..<Int.random(in: 0...3) where bytes.count > 1 {
                    bytes[.random(in: 1..<bytes.count)] = .random(in: 0...255, using: &generator)
                }
                if round % 7 == 0 { bytes.removeLast(.random(in: 0..<bytes.count)) }
            }
            if decodeChannelFrame(fuzzing: bytes) { decoded += 1 }
        }
        #expect(decoded > 0 && decoded < 20_000)
    }
}
