import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("The queue of handshake messages")
struct HandshakeQueueTests {
    private let nowhere = Endpoint(.v4(0), port: 0, scope: 0)

    @Test("Messages come out as they went in, oldest first, and a full queue refuses")
    func order() {
        var queue = HandshakeQueue()
        for round in 0..<3 {
            for number in 0..<HandshakeQueue.capacity {
                let bytes = [UInt8](repeating: UInt8((number + round) & 255), count: 1 + number % 148)
                let endpoint = Endpoint(.v4(UInt32(number)), port: 7, scope: 0)
                let taken = queue.push(bytes.rawSpan, from: endpoint, to: nil)
                #expect(taken)
            }
            let one: [UInt8] = [1]
            let (taken, depth) = (queue.push(one.rawSpan, from: nowhere, to: nil), queue.depth)
            #expect(!taken && depth == HandshakeQueue.capacity)
            for number in 0..<HandshakeQueue.capacity {
                let message = queue.pop()
                #expect(message?.count == 1 + number % 148)
                #expect(message?.from.address == .v4(UInt32(number)))
                let last = message?.withBytes { $0.littleEndianWord(($0.byteCount - 1) / 8) & 255 }
                #expect(last == UInt64((number + round) & 255))
            }
            let rest = queue.pop()
            #expect(rest?.count == nil)
        }
    }

    @Test("A message longer than an initiation is refused")
    func tooLong() {
        var queue = HandshakeQueue()
        let bytes = [UInt8](repeating: 0, count: 149)
        let taken = queue.push(bytes.rawSpan, from: nowhere, to: nil)
        #expect(!taken)
    }
}
