import Synchronization

/// The manager's end of the channel.
public typealias ManagerChannel = Channel<ManagerMessage, WorkerMessage>
/// The worker's end of the channel.
public typealias WorkerChannel = Channel<WorkerMessage, ManagerMessage>

/// One end of the connection between manager and worker: a SOCK_SEQPACKET socket, one frame per message.
///
/// Frames are sent in the order of the calls, from any thread. One thread receives. No byte of the other end is trusted:
/// the first frame that does not decode ends the channel for both ends, and its descriptors are closed.
public final class Channel<Outgoing: ChannelMessage, Incoming: ChannelMessage>: Sendable {
    /// How many frames wait at most for a slow receiver.
    public static var queueLimit: Int { 256 }
    /// How many bytes of bodies wait at most, unless one message alone has more.
    public static var queueByteLimit: Int { 8 << 20 }

    /// What ``receive()`` found.
    public enum Event: Sendable {
        /// A message and the descriptors that belong to it.
        case message(Incoming, descriptors: [Descriptor])
        /// Nothing there: wait until the descriptor is readable.
        case wouldBlock
        /// The other end is gone, or the channel was closed.
        case closed
    }

    private let socket: Descriptor
    private let queue = Mutex<[Frame]>([])
    private let isClosed = Atomic<Bool>(false)

    /// Takes over a connected socket.
    public init(_ socket: Descriptor) {
        self.socket = socket
    }

    /// The socket, to be waited for; never read or write it.
    public var fileDescriptor: Int32 { socket.number }

    /// Whether frames wait until the socket is writable: call ``flush()`` then.
    public var wantsToWrite: Bool { queue.withLock { !$0.isEmpty } }

    /// Sends without waiting: what the receiver does not take now is queued.
    ///
    /// - Throws: ``ChannelError``; `queueFull` when the receiver has left ``queueLimit`` frames or ``queueByteLimit`` bytes
    ///   unread.
    public func send(_ message: Outgoing, descriptors: [Descriptor] = []) throws(ChannelError) {
        try checkOpen()
        let frame = try Frame(message, descriptors: descriptors)
        try queue.withLock { (frames) throws(ChannelError) in
            let bytes = frames.reduce(frame.bodyLength) { $0 + $1.bodyLength }
            guard frames.isEmpty || (frames.count < Self.queueLimit && bytes <= Self.queueByteLimit) else {
                throw .queueFull
            }
            frames.append(frame)
            try drain(&frames)
        }
    }

    /// Sends, waiting for as long as the receiver is slow.
    ///
    /// - Throws: ``ChannelError``; `closed` when the receiver goes.
    public func sendWaiting(_ message: Outgoing, descriptors: [Descriptor] = []) throws(ChannelError) {
        try checkOpen()
        let frame = try Frame(message, descriptors: descriptors)
        try queue.withLock { (frames) throws(ChannelError) in
            frames.append(frame)
            while true {
                try drain(&frames)
                if frames.isEmpty { return }
                try ChannelSystem.waitToWrite(socket.number)
            }
        }
    }

    /// Sends only if that needs no wait for the receiver or for another sender.
    ///
    /// - Returns: Whether the message was sent.
    public func sendIfReady(_ message: Outgoing) -> Bool {
        guard !isClosed.load(ordering: .acquiring), let frame = try? Frame(message, descriptors: []) else {
            return false
        }
        let sent = queue.withLockIfAvailable { frames in
            frames.isEmpty && ((try? transmit(frame)) ?? false)
        }
        return sent ?? false
    }

    /// Sends what is queued, as far as the receiver takes it.
    public func flush() throws(ChannelError) {
        try queue.withLock { (frames) throws(ChannelError) in try drain(&frames) }
    }

    /// Receives the next message without waiting.
    ///
    /// - Throws: ``ChannelError`` for a frame that does not decode; the channel is closed then.
    public func receive() throws(ChannelError) -> Event {
        if isClosed.load(ordering: .acquiring) { return .closed }
        do throws(ChannelError) {
            guard
                let received = try ChannelSystem.receive(
                    socket.number, capacity: Frame.headerLength + Frame.inlineLimit)
            else { return .wouldBlock }
            if received.bytes.isEmpty {
                close()
                return .closed
            }
            if received.truncated { throw .truncated }
            let (message, descriptors) = try Frame.decode(
                received.bytes, descriptors: received.descriptors, as: Incoming.self)
            return .message(message, descriptors: descriptors)
        } catch {
            close()
            throw error
        }
    }

    /// Receives the next message, waiting for it.
    ///
    /// - Returns: The message, or nil when the other end is gone.
    public func receiveWaiting() throws(ChannelError) -> (message: Incoming, descriptors: [Descriptor])? {
        while true {
            switch try receive() {
            case .message(let message, let descriptors): return (message, descriptors)
            case .closed: return nil
            case .wouldBlock: _ = try ChannelSystem.waitToRead(socket.number)
            }
        }
    }

    /// Ends the connection for both ends; the descriptor itself lives as long as this object.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        ChannelSystem.shutDown(socket.number)
    }

    private func checkOpen() throws(ChannelError) {
        if isClosed.load(ordering: .acquiring) { throw .closed }
    }

    private func drain(_ frames: inout [Frame]) throws(ChannelError) {
        var sent = 0
        defer { frames.removeFirst(sent) }
        while sent < frames.count, try transmit(frames[sent]) { sent += 1 }
    }

    private func transmit(_ frame: Frame) throws(ChannelError) -> Bool {
        try ChannelSystem.send(
            socket.number, header: frame.header, body: frame.body, descriptors: frame.descriptors.map(\.number))
    }
}

/// Makes the two ends of a channel.
///
/// - Returns: The manager's end, and the socket that becomes the worker's.
public func makeChannelPair() throws(ChannelError) -> (manager: ManagerChannel, worker: Descriptor) {
    let (near, far) = try ChannelSystem.socketPair()
    return (ManagerChannel(near), far)
}
