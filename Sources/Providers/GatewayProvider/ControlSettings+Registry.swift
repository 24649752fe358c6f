import GatewayRegistry
import WireGuard

/// The peers of a registry as WireGuard's: who may connect, and what is accepted from whom.
extension ControlSettings {
    /// What makes the peers of an engine those of a registry.
    ///
    /// - Parameters:
    ///   - former: What the engine has been told already, nil for nothing.
    ///   - contents: The registry.
    init(from former: RegistryContents?, to contents: RegistryContents) {
        self.init()
        let before = former?.servedPeers ?? [:]
        let after = contents.servedPeers
        // A key that comes back with another preshared key is another peer.
        let gone = before.filter { key, peer in after[key].map { $0.presharedKey != peer.presharedKey } ?? true }
        // Whoever goes gives up its addresses before somebody else gets them.
        peers = gone.keys.map { key in
            var peer = Peer(key)
            peer.isRemoved = true
            return peer
        }
        for (key, served) in after {
            let known = gone[key] == nil ? before[key] : nil
            guard known != served else { continue }
            var peer = Peer(key)
            if known == nil { peer.presharedKey = served.presharedKey }
            peer.replacesAllowedIPs = known != nil
            peer.allowedIPs = served.allowedIPs.map { AllowedIPChange(prefix: $0, isRemoval: false) }
            peers.append(peer)
        }
    }

    /// Whether nothing is asked for.
    var isEmpty: Bool { self == ControlSettings() }
}

/// A peer as the engine knows it.
private struct ServedPeer: Equatable {
    let presharedKey: PresharedKey?
    let allowedIPs: [IPPrefix]
}

extension RegistryContents {
    /// The peers that the gateway answers, by public key.
    fileprivate var servedPeers: [PublicKey: ServedPeer] {
        var served: [PublicKey: ServedPeer] = [:]
        for peer in peers.values where peer.state != .disabled {
            let allowedIPs = (try? self.allowedIPs(of: peer.name)) ?? []
            served[peer.publicKey] = ServedPeer(presharedKey: peer.presharedKey, allowedIPs: allowedIPs)
        }
        return served
    }
}
