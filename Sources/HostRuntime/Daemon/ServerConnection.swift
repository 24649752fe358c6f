internal import Control

/// One caller's connection: frames in, frames out, one call at a time.
final class ServerConnection {
    /// What a connection is sent from the moment that its call was answered.
    enum Stream: Equatable {
        /// Every session and configuration that the caller may see, of one application where one is named.
        case sessions(application: String?)
        /// The log of one configuration.
        case log(identifier: String)
    }

    /// The longest call of a caller that may administer something, and of one that may not.
    static let trustedLimit = 8 << 20
    static let strangerLimit = 64 << 10
    /// What a slow reader may leave waiting besides one reply.
    static let outputLimit = 4 << 20

    let socket: Descriptor
    let caller: Caller
    /// The token of the event loop.
    let token: UInt64
    var input: FrameBuffer
    /// Set while the answer of a call comes later: the calls behind it wait.
    var isBusy = false
    var stream: Stream?
    /// The caller sends nothing any more; what it has asked for is still sent.
    var inputEnded = false
    /// Since when a frame is incomplete, and since when output waits.
    var partialSince: UInt64?
    var stalledSince: UInt64?
    /// What the loop watches it for.
    var reads = true
    var writes = false

    private var output: [UInt8] = []
    private var sent = 0

    init(_ socket: Descriptor, caller: Caller, token: UInt64, isStranger: Bool) {
        self.socket = socket
        self.caller = caller
        self.token = token
        input = FrameBuffer(limit: isStranger ? Self.strangerLimit : Self.trustedLimit)
    }

    /// How many bytes wait for the caller to read.
    var pending: Int { output.count - sent }

    /// Whether so much waits that the next call is not served yet.
    var isCongested: Bool { pending > 65_536 }

    /// Whether complete calls wait, as far as is known.
    var hasCalls: Bool { stream == nil && input.count > 0 && partialSince == nil }

    /// Queues a frame.
    ///
    /// - Returns: False when the caller leaves too much unread: it is to be dropped.
    func enqueue(_ bytes: [UInt8]) -> Bool {
        guard pending == 0 || pending + bytes.count <= Self.outputLimit else { return false }
        if sent > 0 {
            output.removeFirst(sent)
            sent = 0
        }
        output += bytes
        return true
    }

    /// Sends what the caller takes without waiting.
    func flush(at now: UInt64) throws(SystemCallError) {
        while pending > 0 {
            let count = try ManagerSocket.send(socket, output[sent...])
            if count == 0 {
                if stalledSince == nil { stalledSince = now }
                return
            }
            sent += count
            stalledSince = nil
        }
        output = []
        sent = 0
    }
}
