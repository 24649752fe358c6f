import PacketPath
import WireGuard

// The protocol core and the packet path know nothing of each other, so each has its own address values; here they meet.

extension WireGuard.IPAddress {
    @inline(always)
    init(_ address: PacketPath.IPAddress) {
        switch address {
        case .v4(let value): self = .v4(value)
        case .v6(let value): self = .v6(value)
        }
    }

    @inline(always)
    var onPath: PacketPath.IPAddress {
        switch self {
        case .v4(let value): .v4(value)
        case .v6(let value): .v6(value)
        }
    }
}

extension Endpoint {
    @inline(always)
    init(_ peer: PeerAddress) {
        self.init(WireGuard.IPAddress(peer.address), port: peer.port, scope: peer.scope)
    }

    @inline(always)
    var onPath: PeerAddress { PeerAddress(address: address.onPath, port: port, scope: scope) }
}
