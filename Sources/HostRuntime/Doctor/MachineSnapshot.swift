internal import Netlink
internal import PacketPath
internal import ProviderKit
internal import SystemStore

/// What matters to tunnels and can be seen of the machine, at one moment.
public struct MachineSnapshot: Sendable {
    /// What came of making an interface.
    enum Device: Sendable {
        case usable(TUNDevice.Offloads)
        case refused(errno: Int32)
    }

    /// What the kernel does for UDP sockets.
    struct SocketOffloads: Sendable, Equatable {
        /// UDP_SEGMENT.
        var segmentation: Bool
        /// UDP_GRO.
        var receive: Bool
    }

    /// The back end of DNS settings.
    enum ResolverState: Sendable, Equatable {
        case usable(name: String)
        case absent(reason: String)
        case broken(reason: String)
        case readOnly(file: String)
    }

    /// The packet filter, which the kill switch is made with.
    enum FilterState: Sendable, Equatable {
        case usable
        case programMissing
        case refused(cause: String)
    }

    /// Interfaces, and who decides where packets go.
    struct Network: Sendable {
        var links: [Link] = []
        var rules: [Rule] = []
        var routes: [Route] = []
    }

    /// The version of this program.
    var version: String
    /// The user of this process.
    var user: UInt32
    /// CAP_NET_ADMIN.
    var mayAdministerNetwork: Bool
    var device: Device
    /// Nil where no UDP socket can be had.
    var socketOffloads: SocketOffloads?
    /// The variables by which features of the packet path are switched off.
    var switches: [String]
    /// The folder of the manager's socket.
    var runtimeFolder: String
    /// The version of the manager that answered, or why it did not.
    var manager: Result<String, TunnelFailure>
    var stateFolder: StateFolder
    var store: StoreInspection
    var resolver: ResolverState
    var filter: FilterState
    var network: Result<Network, TunnelFailure>
    /// The services that run beside us in this network namespace.
    var services: Set<NetworkService>
    /// Those of them that were told to leave tunnels alone.
    var sparingServices: Set<NetworkService>
    /// What a sweep would remove.
    var leftovers: Result<LeftoverSweep, TunnelFailure>
    /// The wall clock, in seconds since 1970.
    var now: Int64
}
