import CMnl
import Glibc

/// The conversation on a request socket: numbered requests out, answers matched by number.
struct RequestChannel: ~Copyable {
    private let socket: RawSocket
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(socket: consuming RawSocket) {
        self.socket = socket
    }

    /// Sends one batch and waits for every acknowledgement.
    mutating func exchange(_ requests: ArraySlice<Request>) -> [NetlinkError?] {
        var outcomes = [NetlinkError?](repeating: nil, count: requests.count)
        var builder = MessageBuilder()
        let first = sequence &+ 1
        sequence &+= UInt32(requests.count)
        var pending: Set<Int> = []
        for (position, request) in requests.enumerated() {
            if let defect = request.defect {
                outcomes[position] = NetlinkError(
                    code: EINVAL, kernelMessage: defect, request: request.description, family: request.family)
            } else {
                request.append(sequence: first &+ UInt32(position), to: &builder)
                pending.insert(position)
            }
        }
        func failure(_ position: Int, code: Int32, message: String? = nil) -> NetlinkError {
            let request = requests[requests.startIndex + position]
            return NetlinkError(
                code: code, kernelMessage: message, request: request.description, family: request.family)
        }
        do throws(RawSocket.Failure) {
            if !pending.isEmpty { try socket.send(builder.bytes) }
            while !pending.isEmpty {
                for message in try receive() where message.type == MessageType.error {
                    let position = Int(message.sequence &- first)
                    guard pending.remove(position) != nil else { continue }
                    let (code, text) = message.errorContent
                    if code != 0 { outcomes[position] = failure(position, code: code, message: text) }
                }
            }
        } catch {
            // Whether the unanswered ones took effect is unknown: the caller must read the state back.
            for position in pending { outcomes[position] = failure(position, code: error.code) }
        }
        return outcomes
    }

    /// Asks once; nil if the answer was inconsistent because the tables changed meanwhile.
    mutating func answer<Value>(
        to query: Query, _ decode: (Message) -> Value?
    ) throws(NetlinkError) -> [Value]? {
        sequence &+= 1
        var builder = MessageBuilder()
        query.append(sequence: sequence, to: &builder)
        var values: [Value] = []
        var isInterrupted = false
        func failure(_ code: Int32, _ text: String? = nil) -> NetlinkError {
            NetlinkError(code: code, kernelMessage: text, request: query.description, family: query.family)
        }
        do throws(RawSocket.Failure) { try socket.send(builder.bytes) } catch { throw failure(error.code) }
        while true {
            let messages: [Message]
            do throws(RawSocket.Failure) { messages = try receive() } catch { throw failure(error.code) }
            for message in messages where message.sequence == sequence {
                isInterrupted = isInterrupted || message.flags & MessageFlags.dumpInterrupted != 0
                switch message.type {
                case MessageType.error, MessageType.done:
                    let (code, text) = message.errorContent
                    guard code == 0 else { throw failure(code, text) }
                    return isInterrupted ? nil : values
                default:
                    if let value = decode(message) { values.append(value) }
                    if !query.isDump { return values }
                }
            }
        }
    }

    /// One datagram of messages.
    private mutating func receive() throws(RawSocket.Failure) -> [Message] {
        do throws(RawSocket.Failure) {
            let count = try socket.receive(into: &buffer)
            return Message.split(buffer.prefix(count))
        } catch {
            // The only way to EAGAIN is the receive timeout.
            throw error.code == EAGAIN ? RawSocket.Failure(code: ETIMEDOUT) : error
        }
    }
}

extension Message {
    /// The errno (0 for an acknowledgement or the end of a dump) and the kernel's sentence of NLMSG_ERROR or NLMSG_DONE.
    var errorContent: (code: Int32, text: String?) {
        // Magnitude, not negation: -Int32.min would trap.
        let code = Int32(truncatingIfNeeded: (payload.integer(Int32.self, at: 0) ?? -EPROTO).magnitude)
        guard flags & MessageFlags.hasErrorAttributes != 0 else { return (code, nil) }
        var offset = 4
        if type == MessageType.error {
            // struct nlmsgerr: i32 error, then the header of the request, and its payload unless capped.
            let original = flags & MessageFlags.capped != 0 ? 16 : Int(payload.integer(UInt32.self, at: 4) ?? 16)
            offset += (original + 3) & ~3
        }
        return (code, Attributes(bytes: payload.dropFirst(offset)).string(UInt16(NLMSGERR_ATTR_MSG.rawValue)))
    }
}
