import Foundation
import GatewayRegistry
import WireGuard

/// A generator whose numbers are the same in every run (SplitMix64).
struct Generator: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    mutating func nextKey() -> Key256 { Key256(words: SIMD4(next(), next(), next(), next())) }
}

func prefix(_ text: String) throws -> IPPrefix { try IPPrefix.strict(text) }

/// A gateway with the pools that are named.
func makeContents(_ pools: String...) throws -> RegistryContents {
    var generator = Generator(1)
    let endpoint = Configuration.PeerEndpoint("gateway.example.com:51820") ?? .name("", port: 0)
    let gateway = Gateway(
        privateKey: PrivateKey(generator.nextKey()), listenPort: 51820, endpoint: endpoint, epoch: 7)
    return try RegistryContents(gateway: gateway, pools: pools.map { try prefix($0) })
}

/// A peer whose key follows from its name.
func makePeer(_ name: String, group: String? = nil, subnets: String...) throws -> GatewayPeer {
    var generator = Generator(name.utf8.reduce(17) { $0 &* 31 &+ UInt64($1) })
    return GatewayPeer(
        name: name, publicKey: PublicKey(generator.nextKey()), presharedKey: nil, group: group,
        siteSubnets: try subnets.map { try prefix($0) })
}

extension RegistryContents {
    /// Adds a peer at second 1000.
    mutating func add(_ peer: GatewayPeer, addresses: [String] = [], seed: UInt64 = 2) throws {
        var generator = Generator(seed)
        try addPeer(peer, addresses: addresses.compactMap { IPAddress($0) }, now: 1000, random: &generator)
    }

    /// The addresses that a peer holds.
    func addresses(of name: String) -> [String] { leases.leases(of: name).filter(\.isHeld).map { "\($0.address)" } }
}

/// A folder of the test's own.
final class Scratch {
    let path = NSTemporaryDirectory() + "phgateway-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
