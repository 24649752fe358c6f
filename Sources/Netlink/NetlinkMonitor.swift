import CMnl
import Glibc

/// Reports what anyone changes in the namespace: links, addresses, routes and rules of both families.
///
/// Like a request socket, it belongs to the namespace of the thread that makes it. Wait for `fileDescriptor` to be
/// readable, then call `read()` until it returns nothing.
public final class NetlinkMonitor {
    /// A change, with the value after it (or the value that went).
    public enum Event: Hashable, Sendable {
        case link(Link)
        case linkRemoved(Link)
        case address(InterfaceAddress)
        case addressRemoved(InterfaceAddress)
        case route(Route)
        case routeRemoved(Route)
        case rule(Rule)
        case ruleRemoved(Rule)
        /// Events were lost (ENOBUFS): read the state again with dumps.
        case resyncNeeded
    }

    /// The groups' numbers: link, IPv4 address, route and rule, IPv6 address, route and rule (linux/rtnetlink.h).
    private static let groups: [UInt32] = [1, 5, 7, 8, 9, 11, 19]
    /// Datagrams per call, so that a flood of changes cannot hold the caller.
    private static let readLimit = 64

    private let socket: RawSocket
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Readable when there is something to read; owned by the monitor.
    public let fileDescriptor: Int32

    /// Opens the socket and subscribes; `receiveBuffer` bounds the bytes of events that may wait.
    public init(receiveBuffer: Int = 1 << 20) throws(NetlinkError) {
        do throws(RawSocket.Failure) {
            let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1 - 1) }
            let socket = try RawSocket(groups: mask, isNonblocking: true)
            socket.setReceiveBuffer(bytes: Int32(clamping: receiveBuffer))
            fileDescriptor = socket.fileDescriptor
            self.socket = socket
        } catch {
            throw NetlinkError(code: error.code, request: "watch the namespace for changes")
        }
    }

    /// The events that wait, oldest first, without blocking; empty when there are none.
    public func read() throws(NetlinkError) -> [Event] {
        var events: [Event] = []
        for _ in 0..<Self.readLimit {
            do throws(RawSocket.Failure) {
                let count = try socket.receive(into: &buffer)
                events += Message.split(buffer.prefix(count)).compactMap { Event($0) }
            } catch {
                switch error.code {
                case EAGAIN: return events
                // ENOSPC is libmnl's word for a datagram larger than the buffer, which is also a loss.
                case ENOBUFS, ENOSPC: if events.last != .resyncNeeded { events.append(.resyncNeeded) }
                default: throw NetlinkError(code: error.code, request: "read changes of the namespace")
                }
            }
        }
        return events
    }
}

extension NetlinkMonitor.Event {
    init?(_ message: Message) {
        let event: Self? =
            switch message.type {
            case MessageType.newLink: Link(message).map { .link($0) }
            case MessageType.deleteLink: Link(message).map { .linkRemoved($0) }
            case MessageType.newAddress: InterfaceAddress(message).map { .address($0) }
            case MessageType.deleteAddress: InterfaceAddress(message).map { .addressRemoved($0) }
            case MessageType.newRoute: Route(message).map { .route($0) }
            case MessageType.deleteRoute: Route(message).map { .routeRemoved($0) }
            case MessageType.newRule: Rule(message).map { .rule($0) }
            case MessageType.deleteRule: Rule(message).map { .ruleRemoved($0) }
            default: nil
            }
        guard let event else { return nil }
        self = event
    }
}
