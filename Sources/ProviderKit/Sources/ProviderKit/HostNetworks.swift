/// What the machine is connected to beside a tunnel, as the host saw it last.
///
/// A provider that is told routes or addresses from outside compares them with this.
public struct HostNetworks: Sendable, Codable, Equatable {
    /// An address of another interface, and with it the network that the interface is connected to.
    public struct Address: Sendable, Codable, Equatable {
        /// The interface's name.
        public var interface: String
        /// The address as text.
        public var address: String
        /// The number of leading bits that name the network.
        public var prefixLength: Int
        /// The largest packet of the interface in bytes.
        public var mtu: Int

        /// Makes an address.
        public init(interface: String, address: String, prefixLength: Int, mtu: Int) {
            self.interface = interface
            self.address = address
            self.prefixLength = prefixLength
            self.mtu = mtu
        }
    }

    /// The addresses of every interface but the tunnel's.
    public var addresses: [Address]
    /// The largest packet, in bytes, of the interface that the default route leads to; nil without such a route.
    public var defaultRouteMTU: Int?

    /// Makes the networks of a machine; of one without any by default.
    public init(addresses: [Address] = [], defaultRouteMTU: Int? = nil) {
        self.addresses = addresses
        self.defaultRouteMTU = defaultRouteMTU
    }
}
