public import Netlink
import Synchronization

/// What applying settings does to a system; a test puts a model in its place.
public protocol SettingsEffects: Sendable {
    /// Tries every change, in order, and returns an outcome for each: nil where it was done.
    func submit(_ requests: [Request]) -> [NetlinkError?]
    /// Every interface.
    func links() throws(NetlinkError) -> [Link]
    /// The interface with this name.
    func link(named name: String) throws(NetlinkError) -> Link
    /// The interface with this index.
    func link(index: UInt32) throws(NetlinkError) -> Link
    /// The addresses of an interface.
    func addresses(interface: UInt32) throws(NetlinkError) -> [InterfaceAddress]
    /// The routes of a table, or of every table.
    func routes(table: UInt32?) throws(NetlinkError) -> [Route]
    /// The rules of both families.
    func rules() throws(NetlinkError) -> [Rule]
    /// The value of a kernel setting by its path below /proc/sys, without white space around it; nil if there is none.
    func sysctl(_ name: String) -> String?
    /// Changes a kernel setting.
    func setSysctl(_ name: String, to value: String) throws(NetlinkError)
}

/// The effects on the kernel, in the network namespace of the thread that makes the value.
///
/// Kernel settings belong to the namespace of the calling thread, so all calls must come from threads of that namespace.
public final class SystemEffects: SettingsEffects {
    private let socket: Mutex<NetlinkSocket>

    /// Opens a netlink socket.
    public init() throws(NetlinkError) {
        socket = Mutex(try NetlinkSocket())
    }

    public func submit(_ requests: [Request]) -> [NetlinkError?] { socket.withLock { $0.submit(requests) } }

    public func links() throws(NetlinkError) -> [Link] {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.links() }
    }

    public func link(named name: String) throws(NetlinkError) -> Link {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.link(named: name) }
    }

    public func link(index: UInt32) throws(NetlinkError) -> Link {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.link(index: index) }
    }

    public func addresses(interface: UInt32) throws(NetlinkError) -> [InterfaceAddress] {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.addresses(interface: interface) }
    }

    /// The addresses of every interface.
    func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.addresses() }
    }

    public func routes(table: UInt32?) throws(NetlinkError) -> [Route] {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.routes(table: table) }
    }

    public func rules() throws(NetlinkError) -> [Rule] {
        try socket.withLock { (socket) throws(NetlinkError) in try socket.rules() }
    }

    public func sysctl(_ name: String) -> String? { readKernelSetting(name) }

    public func setSysctl(_ name: String, to value: String) throws(NetlinkError) {
        let code = writeKernelSetting(name, value)
        guard code == 0 else { throw NetlinkError(code: code, request: "set \(name) to \(value)") }
    }
}
