/// What the comments of a wg-quick file say to us as `# key = value`; other readers of the file pass over them.
public enum CommentKey: String, Sendable, Hashable, CaseIterable {
    /// A name for the peer, in `[Peer]`.
    case friendlyName = "friendly_name"
    /// Parts of the packet path to do without, in `[Interface]`: a list of ``PathFeature`` names.
    case switchOff = "switch_off"
    /// Data threads in each direction, in `[Interface]`.
    case threads
    /// The domains that alone ask the servers of `DNS`, in `[Interface]`.
    case matchDomains = "match_domains"

    /// The section that the comment means something in.
    public var section: ConfigurationSection {
        switch self {
        case .friendlyName: .peer
        case .switchOff, .threads, .matchDomains: .interface
        }
    }

    /// What a value looks like.
    public var expectation: String {
        switch self {
        case .friendlyName: "a name"
        case .switchOff:
            "some of " + PathFeature.allCases.map(\.rawValue).joined(separator: ", ") + ", separated by commas"
        case .threads:
            "a number from \(Configuration.threadCounts.lowerBound) to \(Configuration.threadCounts.upperBound)"
        case .matchDomains: "domains, separated by commas"
        }
    }
}

/// A part of the packet path that a configuration can switch off, where a kernel or a device has a fault in it.
public enum PathFeature: String, Sendable, Hashable, CaseIterable {
    /// TCP super-packets to and from the TUN.
    case tunTSO = "tun_tso"
    /// UDP super-packets to and from the TUN.
    case tunUSO = "tun_uso"
    /// Trains of datagrams sent in one call (UDP_SEGMENT).
    case udpGSO = "udp_gso"
    /// Trains of datagrams received in one call (UDP_GRO).
    case udpGRO = "udp_gro"
    /// Ciphers with wide vectors, which can lower the clock of a processor; off leaves libsodium.
    case wideAEAD = "wide_aead"

    /// Reads a list of features, separated by commas or white space, in either case.
    ///
    /// - Parameter list: The list; an empty one has no feature.
    /// - Returns: What the list names, in no order.
    /// - Throws: ``Unknown`` with the first item that names none.
    public static func parse(_ list: String) throws(Unknown) -> Set<PathFeature> {
        var features: Set<PathFeature> = []
        for item in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            guard let feature = PathFeature(rawValue: item.lowercased()) else { throw Unknown(item: String(item)) }
            features.insert(feature)
        }
        return features
    }

    /// An item of a list that names no feature.
    public struct Unknown: Error, Sendable, Hashable {
        /// The item as it was written.
        public let item: String
    }
}
