import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

/// What the tests need to know about descriptors of this process.
enum Descriptors {
    /// Whether exec closes it.
    static func isCloseOnExec(_ number: Int32) -> Bool { fcntl(number, F_GETFD) & FD_CLOEXEC != 0 }
    /// The identity of the open file.
    static func inode(_ number: Int32) throws -> UInt64 {
        var status = stat()
        try #require(unsafe fstat(number, &status) == 0)
        return UInt64(status.st_ino)
    }
}

@Suite("Channel") struct ChannelTests {
    @Test("Descriptors arrive in order, close-on-exec, and are the files that were sent")
    func descriptorsArrive() throws {
        let (manager, far) = try makeChannelPair()
        let worker = WorkerChannel(far)
        let sent = [try ChannelSystem.sealedMemory([4]), try ChannelSystem.sealedMemory([6])]
        let inodes = try sent.map { try Descriptors.inode($0.number) }
        try manager.send(.udpSockets(id: 1, .opened(port: 5, hasIPv4: true, hasIPv6: true)), descriptors: sent)
        let (_, arrived) = try #require(try worker.receiveWaiting())
        #expect(try arrived.map { try Descriptors.inode($0.number) } == inodes)
        #expect(arrived.allSatisfy { Descriptors.isCloseOnExec($0.number) })
        #expect(Descriptors.isCloseOnExec(worker.fileDescriptor))
        #expect(Descriptors.isCloseOnExec(manager.fileDescriptor))
    }

    @Test("A descriptor closes with its last reference, and not after it was released")
    func descriptorLifetime() throws {
        // The other end of a pair tells: a number may be taken again by another test at once.
        var pair: (near: Descriptor, far: Descriptor)? = try ChannelSystem.socketPair()
        let far = try #require(pair?.far)
        #expect(try ChannelSystem.receive(far.number, capacity: 1)?.bytes == nil)
        pair = nil
        #expect(try ChannelSystem.receive(far.number, capacity: 1)?.bytes == [])

        let kept = try ChannelSystem.sealedMemory([]).release()
        #expect(Descriptors.isCloseOnExec(kept))
        close(kept)
    }

    @Test("A message with the wrong number of descriptors is refused by the sender")
    func wrongDescriptorCount() throws {
        let (manager, _) = try makeChannelPair()
        #expect(throws: ChannelError.wrongDescriptors(expected: 1, actual: 0)) {
            try manager.send(.configure(Messages.configuration))
        }
        let extra = try ChannelSystem.sealedMemory([])
        #expect(throws: ChannelError.wrongDescriptors(expected: 0, actual: 1)) {
            try manager.send(.wake, descriptors: [extra])
        }
    }

    @Test("An empty channel would block; one whose other end is gone is closed")
    func blockAndClose() throws {
        let (manager, far) = try makeChannelPair()
        guard case .wouldBlock = try manager.receive() else {
            Issue.record("an empty channel must block")
            return
        }
        far.close()
        guard case .closed = try manager.receive() else {
            Issue.record("a dead peer must close the channel")
            return
        }
        #expect(throws: ChannelError.closed) { try manager.send(.wake) }
    }

    @Test("Messages sent before the other end went still arrive")
    func lastWords() throws {
        let (manager, far) = try makeChannelPair()
        try WorkerChannel(far).send(.failed(Messages.failure))
        far.close()
        #expect(try manager.receiveWaiting()?.message == .failed(Messages.failure))
        #expect(try manager.receiveWaiting() == nil)
    }

    @Test("A receiver that does not read fills the queue and never blocks the sender; the order is kept")
    func boundedQueue() throws {
        let (manager, far) = try makeChannelPair()
        var accepted: UInt64 = 0
        #expect(throws: ChannelError.queueFull) {
            for id in 0..<100_000 as Range<UInt64> {
                try manager.send(.sleep(id: id))
                accepted += 1
            }
        }
        #expect(manager.wantsToWrite)
        let worker = WorkerChannel(far)
        for id in 0..<accepted {
            if case .wouldBlock = try worker.receive() { Issue.record("frame \(id) is missing") }
            try manager.flush()
        }
        #expect(!manager.wantsToWrite)
        guard case .wouldBlock = try worker.receive() else {
            Issue.record("more frames than were accepted")
            return
        }
    }

    @Test("Large messages fill the queue by their bytes")
    func boundedBytes() throws {
        let (manager, far) = try makeChannelPair()
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        var accepted = 0
        #expect(throws: ChannelError.queueFull) {
            // The socket itself holds a frame with its descriptor for each message, so more than eight are accepted.
            for id in 0..<1000 as Range<UInt64> {
                try manager.send(.appMessage(id: id, bytes, wantsReply: true))
                accepted += 1
            }
        }
        let worker = WorkerChannel(far)
        for id in 0..<UInt64(accepted) {
            #expect(try worker.receiveWaiting()?.message == .appMessage(id: id, bytes, wantsReply: true))
            try manager.flush()
        }
        #expect(!manager.wantsToWrite)
    }

    @Test("A waiting sender goes on as soon as the receiver reads, in order")
    func waitingSender() async throws {
        let (manager, far) = try makeChannelPair()
        let worker = WorkerChannel(far)
        let count = 2000 as UInt64
        let sender = Thread {
            for id in 0..<count { try? worker.sendWaiting(.sleepCompleted(id: id)) }
        }
        sender.start()
        for id in 0..<count {
            #expect(try manager.receiveWaiting()?.message == .sleepCompleted(id: id))
        }
    }

    @Test("A log line is dropped, not queued, while the receiver is slow")
    func logLinesAreDropped() throws {
        let (manager, far) = try makeChannelPair()
        let worker = WorkerChannel(far)
        var sent = 0
        while worker.sendIfReady(.log(.info, "line \(sent)")), sent < 100_000 { sent += 1 }
        #expect(sent > 0 && sent < 100_000)
        #expect(!worker.wantsToWrite)
        for index in 0..<sent {
            #expect(try manager.receiveWaiting()?.message == .log(.info, "line \(index)"))
        }
    }
}
