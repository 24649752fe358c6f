/// The interface descriptions that `org.varlink.service.GetInterfaceDescription` gives, in Varlink's own language.
public enum InterfaceDescription {
    /// The interface that every Varlink service has.
    public static let service = """
        # The Varlink service interface is provided by every service.
        interface org.varlink.service

        method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

        method GetInterfaceDescription(interface: string) -> (description: string)

        error InterfaceNotFound (interface: string)
        error MethodNotFound (method: string)
        error MethodNotImplemented (method: string)
        error InvalidParameter (parameter: string)

        """

    /// ``ManagerMethod/interface``, made from the table of methods.
    public static let manager: String =
        """
        # Manages the tunnels of this machine: configurations, their sessions, and the keychain.
        interface \(ManagerMethod.interface)

        \(types)

        """ + ManagerMethod.allCases.map(text).joined() + errors

    /// The description of an interface by its name; nil for one that is not there.
    public static func text(of interface: String) -> String? {
        switch interface {
        case VarlinkService.interface: service
        case ManagerMethod.interface: manager
        default: nil
        }
    }

    private static let types = """
        # A configuration as its owner sees it. To others `protocolConfiguration` lacks everything that is the provider's
        # own, and `isRedacted` is true. `identifier` is a UUID, `generation` counts its saves.
        type Configuration (
          identifier: string,
          slot: (tunnelProvider, personal),
          application: string,
          owner: int,
          generation: int,
          localizedDescription: ?string,
          isEnabled: bool,
          isOnDemandEnabled: bool,
          onDemandRules: ?[]object,
          protocolConfiguration: ?object,
          isRedacted: bool
        )

        # The session of a configuration. `sequence` grows with every change of any session of one `service`, which is
        # another one after the manager was started anew. `connectedSince` is in seconds since 1970.
        type Session (
          identifier: string,
          status: (invalid, disconnected, connecting, connected, reasserting, disconnecting),
          interface: ?string,
          connectedSince: ?float,
          error: ?Failure,
          service: string,
          sequence: int
        )

        # Counters of the interface: what it carried inside the tunnel, which is an estimate of what the outer network carried.
        # `peers` is what the provider counts of its peers, empty where it counts nothing.
        type Counters (
          interface: string,
          epoch: string,
          estimate: bool,
          receivedBytes: int,
          sentBytes: int,
          receivedPackets: int,
          sentPackets: int,
          receiveErrors: int,
          sendErrors: int,
          receiveDrops: int,
          sendDrops: int,
          peers: []PeerCounters,
          omittedPeers: int
        )

        # Figures of one peer by name, such as `receivedBytes` and `latestHandshake` (in seconds since 1970).
        type PeerCounters (name: string, values: [string]int)

        # What the on-demand rules of a configuration came to. `rule` counts from 1 and is left out where none matches or no
        # rules are in force, as `reason` says; `time` and `nextStart` are in seconds since 1970, `failures` are in a row.
        type OnDemand (
          isInForce: bool,
          rule: ?int,
          action: ?(connect, disconnect, evaluateConnection, ignore),
          reason: string,
          time: ?float,
          network: ?Network,
          failures: int,
          nextStart: ?float
        )

        # The network that rules were evaluated in, by its primary interface; tunnels of this service do not count.
        type Network (
          interface: ?string,
          type: ?(ethernet, wiFi, cellular, virtual, loopback),
          ssid: ?string,
          dnsServers: []string,
          searchDomains: []string
        )

        # What went wrong, why, and what to do about it.
        type Failure (domain: string, code: int, cause: string, remedy: string)

        # `time` is in seconds since 1970.
        type LogLine (time: float, level: (error, warning, info, debug), text: string)

        # A secret on its way into the keychain (`data` is base64): the configuration has `${keychain:name}` in its place.
        type NewSecret (name: string, data: string, accessibility: ?string)

        # An item of the keychain; `reference` is hexadecimal, `data` base64, both where they were asked for.
        type Item (reference: ?string, attributes: ?object, data: ?string)
        """

    private static let errors = """

        # Every refusal of this interface.
        error Refused (domain: string, code: int, cause: string, remedy: string)

        """

    private static func text(_ method: ManagerMethod) -> String {
        let row = method.row
        let comment = (row.summary + "\nNeeds: \(row.permission).").split(separator: "\n").map { "# \($0)\n" }.joined()
        return "\n\(comment)method \(method.rawValue)(\(list(row.parameters))) -> (\(list(row.reply)))\n"
    }

    private static func list(_ fields: [ManagerMethod.Field]) -> String {
        fields.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
    }
}
