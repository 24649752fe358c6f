import Glibc

/// Reports which tables of nftables lose something, in the namespace of the thread that makes it.
///
/// Wait for `fileDescriptor` to be readable, then call `read()`.
public final class FilterMonitor {
    /// What was lost since the last call.
    public struct Losses: Hashable, Sendable {
        /// The names of the tables that something was deleted from, or that were deleted.
        public var tables: Set<String> = []
        /// Whether there may be more: events were lost (ENOBUFS).
        public var isIncomplete = false
    }

    /// The number of NETLINK_NETFILTER, and of its group for nftables (linux/netfilter/nfnetlink.h).
    private static let bus: Int32 = 12
    private static let group: UInt32 = 7
    /// Deletions of a table, chain, rule, set and set element, below subsystem 10.
    private static let deletions: Set<UInt16> = [0xa02, 0xa05, 0xa08, 0xa0b, 0xa0e]
    /// Length of struct nfgenmsg; the table's name is attribute 1 of every message.
    private static let headerLength = 4
    private static let tableAttribute: UInt16 = 1
    /// Datagrams per call, so that a flood of changes cannot hold the caller.
    private static let readLimit = 64

    private let socket: RawSocket
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Readable when there is something to read; owned by the monitor.
    public let fileDescriptor: Int32

    /// Opens the socket and subscribes.
    public init() throws(NetlinkError) {
        do throws(RawSocket.Failure) {
            let socket = try RawSocket(Self.bus, groups: 1 << (Self.group - 1), isNonblocking: true)
            socket.setReceiveBuffer(bytes: 1 << 20)
            fileDescriptor = socket.fileDescriptor
            self.socket = socket
        } catch {
            throw NetlinkError(code: error.code, request: "watch the packet filter for changes")
        }
    }

    /// What was lost since the last call, without blocking.
    public func read() -> Losses {
        var losses = Losses()
        for _ in 0..<Self.readLimit {
            do throws(RawSocket.Failure) {
                let count = try socket.receive(into: &buffer)
                for message in Message.split(buffer.prefix(count)) where Self.deletions.contains(message.type) {
                    let attributes = message.attributes(after: Self.headerLength)
                    if let table = attributes.string(Self.tableAttribute) { losses.tables.insert(table) }
                }
            } catch {
                if error.code == EAGAIN { return losses }
                losses.isIncomplete = true
                // ENOSPC is libmnl's word for a datagram larger than the buffer, which is also a loss.
                if error.code != ENOBUFS, error.code != ENOSPC { return losses }
            }
        }
        return losses
    }
}
