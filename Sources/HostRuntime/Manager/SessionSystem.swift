internal import ProviderKit
internal import Session

/// What a session needs of the machine: tests put a scripted one in its place.
protocol SessionSystem {
    /// The name that the interface of a session will have: the wanted one, else the first free one.
    ///
    /// - Throws: A ``TunnelError`` for a name that is malformed.
    func interfaceName(wanted: String?) throws -> String

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - name: What ``interfaceName(wanted:)`` gave.
    ///   - isFixed: Whether somebody asked for this very name; if not, another free one may be taken.
    /// - Returns: The interface.
    /// - Throws: A ``TunnelError``; nothing is left then.
    func makeInterface(name: String, isFixed: Bool) throws -> any SessionInterface

    /// The directory in which the providers of a bundle keep what is to outlive them, made where it is missing.
    ///
    /// - Throws: A ``TunnelError`` where it cannot be used.
    func stateDirectory(of bundleIdentifier: String) throws -> String

    /// Makes a worker process that serves `channel`.
    func spawnWorker(channel: Descriptor) throws -> any SessionWorker
}

/// The virtual interface of a session, with the settings on it.
protocol SessionInterface: AnyObject {
    var name: String { get }
    /// What there is to say about the making of the interface, for the log.
    var remarks: [String] { get }
    /// The MTU that the settings gave, nil while there is none.
    var mtu: Int? { get }
    /// The length of the virtio_net_hdr of every packet.
    var virtualHeaderLength: Int { get }
    /// Readable when ``isLost()`` may have become true.
    var changeDescriptor: Int32 { get }
    /// Whether somebody deleted the interface; takes what ``changeDescriptor`` reported.
    func isLost() -> Bool
    /// Sets again what other programs took away since the last call, in so far as ``changeDescriptor`` told of it.
    ///
    /// - Returns: Remarks for the log.
    func restore() -> [String]
    /// What the machine is connected to beside the tunnel; nil where that is not looked at.
    func hostNetworks() throws -> HostNetworks?
    /// Whether that may have changed since the last call, in so far as ``changeDescriptor`` told of it.
    func takeNetworkChange() -> Bool
    /// A descriptor of the device for a worker.
    func duplicateDevice() throws -> Descriptor
    /// Replaces the settings as a whole or not at all.
    ///
    /// - Returns: What of them cannot have its effect.
    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [SettingsShortfall]
    /// Opens UDP sockets that stay outside the tunnel.
    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets
    /// Undoes the settings and deletes the interface.
    ///
    /// - Returns: What could not be removed.
    func tearDown() -> [String]
}

/// A worker process.
protocol SessionWorker: AnyObject {
    /// Readable once the process has ended.
    var exitDescriptor: Int32 { get }
    /// How the process ended, nil while it runs.
    func collect() -> WorkerExit?
    /// Kills the process.
    func kill()
}
