import Testing

@testable import Control

@Suite("Frames of the control socket")
struct FrameBufferTests {
    private func frames(_ pieces: [[UInt8]], limit: Int = 64) throws -> [String] {
        var buffer = FrameBuffer(limit: limit)
        var frames: [String] = []
        for piece in pieces {
            buffer.append(piece[...])
            while let frame = try buffer.next() { frames.append(String(decoding: frame, as: UTF8.self)) }
        }
        return frames
    }

    @Test("come out whole, however they are cut", arguments: 1...12)
    func pieces(size: Int) throws {
        let bytes = Array("{}\0{\"a\":1}\0\0abc\0".utf8)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(try frames(pieces) == ["{}", "{\"a\":1}", "", "abc"])
    }

    @Test("that do not end are kept, and counted")
    func partial() throws {
        var buffer = FrameBuffer(limit: 64)
        buffer.append(Array("abc".utf8)[...])
        #expect(try buffer.next() == nil)
        #expect(buffer.count == 3)
        buffer.append([0])
        #expect(try buffer.next() == Array("abc".utf8))
        #expect(buffer.count == 0)
    }

    @Test("may have the limit's length and no more")
    func limit() throws {
        let exact = [UInt8](repeating: 65, count: 64)
        #expect(try frames([exact + [0]]).count == 1)
        #expect(throws: WireError.frameTooLong(limit: 64)) { try frames([exact + [65, 0]]) }
        #expect(throws: WireError.frameTooLong(limit: 64)) { try frames([exact + [65]]) }
        #expect(throws: WireError.frameTooLong(limit: 64)) { try frames(exact.map { [$0] } + [[65]]) }
    }

    @Test("in great number do not fill the memory, nor does their cutting take long")
    func many() throws {
        var buffer = FrameBuffer(limit: 1 << 20)
        var count = 0
        for _ in 0..<2_000 {
            buffer.append(Array(repeating: Array("{}\0".utf8), count: 100).flatMap(\.self)[...])
            while try buffer.next() != nil { count += 1 }
        }
        #expect(count == 200_000)
        var slow = FrameBuffer(limit: 1 << 20)
        for _ in 0..<(1 << 20) {
            slow.append([65])
            let isComplete = try slow.next() != nil
            #expect(!isComplete)
        }
        #expect(slow.count == 1 << 20)
    }
}
