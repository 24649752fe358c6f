import CMnl
import Glibc

/// A request socket on rtnetlink: changes in batches, and dumps one at a time.
///
/// The socket belongs to the network namespace of the thread that makes it, whatever thread uses it later.
/// One owner at a time uses it: an actor, a thread, or whoever holds a lock. No call blocks for more than five seconds at a time without an answer.
public final class NetlinkSocket {
    /// Requests per send: their answers must fit the socket's receive buffer, since the kernel queues all before send returns.
    private static let batchLimit = 128
    private static let dumpAttempts = 10

    private var channel: RequestChannel

    /// Opens the socket; no privilege is needed for questions, CAP_NET_ADMIN for changes.
    public init() throws(NetlinkError) {
        do throws(RawSocket.Failure) {
            let socket = try RawSocket(groups: 0, isNonblocking: false)
            socket.enable(NETLINK_EXT_ACK)
            socket.enable(NETLINK_CAP_ACK)
            socket.enable(NETLINK_GET_STRICT_CHK)
            socket.setReceiveTimeout(seconds: 5)
            socket.setReceiveBuffer(bytes: 1 << 20)
            channel = RequestChannel(socket: socket)
        } catch {
            throw NetlinkError(code: error.code, request: "open a netlink socket")
        }
    }

    /// Sends all requests, many to a datagram, and returns one outcome for each, in order: nil where it was done.
    ///
    /// A failing request does not keep the later ones from being tried.
    public func submit(_ requests: [Request]) -> [NetlinkError?] {
        var outcomes: [NetlinkError?] = []
        outcomes.reserveCapacity(requests.count)
        var rest = requests[...]
        while !rest.isEmpty {
            outcomes += channel.exchange(rest.prefix(Self.batchLimit))
            rest = rest.dropFirst(Self.batchLimit)
        }
        return outcomes
    }

    /// Sends all requests and throws the first failure; the others have been tried all the same.
    public func perform(_ requests: [Request]) throws(NetlinkError) {
        for outcome in submit(requests) {
            if let outcome { throw outcome }
        }
    }

    /// Sends one request and throws its failure.
    public func perform(_ request: Request) throws(NetlinkError) {
        try perform([request])
    }

    /// The answers to a question; a dump that the kernel marks as interrupted is read again.
    func ask<Value>(_ query: Query, _ decode: (Message) -> Value?) throws(NetlinkError) -> [Value] {
        for _ in 0..<Self.dumpAttempts {
            if let answer = try channel.answer(to: query, decode) { return answer }
        }
        throw NetlinkError(code: EINTR, request: query.description, family: query.family)
    }
}
