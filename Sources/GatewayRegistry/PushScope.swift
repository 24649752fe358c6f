/// Whom a part of the policy is for.
public enum PushScope: Sendable, Hashable {
    /// Every peer.
    case gateway
    /// The peers of a group.
    case group(String)
    /// One peer.
    case peer(String)

    /// The peer, where it is for one.
    public var peerName: String? {
        guard case .peer(let name) = self else { return nil }
        return name
    }

    /// The group, where it is for one.
    public var groupName: String? {
        guard case .group(let name) = self else { return nil }
        return name
    }

    /// The order of listings.
    var sortKey: (Int, String) {
        switch self {
        case .gateway: (0, "")
        case .group(let name): (1, name)
        case .peer(let name): (2, name)
        }
    }
}

extension PushScope: CustomStringConvertible {
    public var description: String {
        switch self {
        case .gateway: "every peer"
        case .group(let name): "the group `\(name.excerpt)`"
        case .peer(let name): "the peer `\(name.excerpt)`"
        }
    }
}

/// On which side of the tunnel a network lies.
public enum RouteKind: String, Sendable, Hashable, CaseIterable {
    /// It goes into the tunnel.
    case included
    /// It stays outside.
    case excluded
}
