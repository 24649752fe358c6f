import PacketPath
import WireGuard

// The protocol core and the packet path know nothing of each other, so each has its own address values; here they meet.
// An address that a call returned is not handed on in the same expression: Swift 6.3.1 then reads its UInt128 from an
// unaligned stack slot in debug builds.

extension WireGuard.IPAddress {
    init(_ address: PacketPath.IPAddress) {
        switch address {
        case .v4(let value): self = .v4(value)
        case .v6(let value): self = .v6(value)
        }
    }

    var onPath: PacketPath.IPAddress {
        switch self {
        case .v4(let value): .v4(value)
        case .v6(let value): .v6(value)
        }
    }
}

extension Endpoint {
    init(_ peer: PeerAddress) {
        switch peer.address {
        case .v4(let value): self.init(.v4(value), port: peer.port, scope: peer.scope)
        case .v6(let value): self.init(.v6(value), port: peer.port, scope: peer.scope)
        }
    }

    var onPath: PeerAddress { PeerAddress(address: address.onPath, port: port, scope: scope) }
}
