internal import ProviderKit

/// App messages that wait for delivery or for a reply.
struct MessageQueue: Sendable {
    /// The largest message and the largest reply, in bytes.
    static let largest = 1 << 20
    /// So many messages may be under way.
    static let capacity = 64

    struct Message: Sendable {
        let id: UInt64
        /// The bytes until the message is delivered.
        var bytes: [UInt8]?
        let wantsReply: Bool
        let deadline: Instant
    }

    /// In the order of their deadlines.
    var pending: [Message] = []

    var nextDeadline: Instant? { pending.first?.deadline }
}

extension SessionMachine {
    mutating func receiveMessage(_ id: UInt64, _ bytes: [UInt8], _ wantsReply: Bool, _ now: Instant) {
        guard phase != .idle, phase != .ending else {
            return refuse(id, SessionError(.notRunning, cause: "The session is \(status)."))
        }
        guard bytes.count <= MessageQueue.largest else { return refuse(id, SessionError(.messageTooLarge)) }
        guard messages.pending.count < MessageQueue.capacity else { return refuse(id, SessionError(.tooManyRequests)) }
        let deadline = now + deadlines.message
        switch worker {
        case .starting, .running:
            emit(.deliverMessage(id: id, bytes, wantsReply: wantsReply))
            guard wantsReply else { return }
            messages.pending.append(.init(id: id, bytes: nil, wantsReply: true, deadline: deadline))
        case .none, .loading, .stopping, .exiting:
            messages.pending.append(.init(id: id, bytes: bytes, wantsReply: wantsReply, deadline: deadline))
        }
    }

    mutating func deliverWaitingMessages() {
        for index in messages.pending.indices {
            guard let bytes = messages.pending[index].bytes else { continue }
            messages.pending[index].bytes = nil
            let message = messages.pending[index]
            emit(.deliverMessage(id: message.id, bytes, wantsReply: message.wantsReply))
        }
        messages.pending.removeAll { !$0.wantsReply }
    }

    mutating func messageReply(_ id: UInt64, _ bytes: [UInt8]?) {
        guard let index = messages.pending.firstIndex(where: { $0.id == id && $0.bytes == nil }) else {
            return log(.warning, "Ignored: a reply to a message that waits for none.")
        }
        messages.pending.remove(at: index)
        guard let bytes, bytes.count > MessageQueue.largest else { return emit(.replyMessage(id: id, bytes)) }
        log(.warning, "A reply of \(bytes.count) bytes was dropped: 1 MiB is the limit.")
        emit(.replyMessage(id: id, nil))
    }

    mutating func expireMessages(_ now: Instant) {
        dropMessages { $0.deadline <= now }
    }

    mutating func dropUndeliveredMessages() {
        dropMessages { $0.bytes != nil }
    }

    mutating func dropDeliveredMessages() {
        dropMessages { $0.bytes == nil }
    }

    mutating func dropAllMessages() {
        dropMessages { _ in true }
    }

    /// Forgets messages; who waits for a reply gets none.
    private mutating func dropMessages(where isDropped: (MessageQueue.Message) -> Bool) {
        let dropped = messages.pending.filter(isDropped)
        guard !dropped.isEmpty else { return }
        messages.pending.removeAll(where: isDropped)
        log(.warning, "\(dropped.count) app messages got no reply.")
        for message in dropped where message.wantsReply { emit(.replyMessage(id: message.id, nil)) }
    }

    private mutating func refuse(_ id: UInt64, _ error: SessionError) {
        emit(.refuseMessage(id: id, TunnelFailure(error)))
    }
}
