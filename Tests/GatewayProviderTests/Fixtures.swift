import Foundation
import GatewayRegistry
import ProviderKit
import SettingsPush
import Synchronization
import WireGuard
import WireGuardProvider

@testable import GatewayProvider

/// A gateway of two pools in a folder of the test's own, with peers that are named.
final class Scratch {
    let path = NSTemporaryDirectory() + "phgwprovider-" + UUID().uuidString

    /// Makes the registry.
    init(lease: UInt32 = 3600, pools: [String] = ["10.7.0.0/24", "fd07::/64"], peers: String...) throws {
        let endpoint = Configuration.PeerEndpoint("gateway.example.com:51820") ?? .name("", port: 0)
        var gateway = Gateway(
            privateKey: PrivateKey(key("gateway")), listenPort: 51820, endpoint: endpoint, epoch: 7)
        gateway.leaseSeconds = lease
        var contents = try RegistryContents(gateway: gateway, pools: pools.map { try IPPrefix.strict($0) })
        for name in peers { try contents.add(name) }
        try Registry.create(in: path, contents)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Changes the registry as an operator's verb does, in another process.
    @discardableResult
    func change(_ body: (inout RegistryContents) throws -> Void) throws -> RegistryContents {
        let registry = try Registry(folder: path)
        var wanted = try registry.contents()
        try body(&wanted)
        return try registry.change { contents throws(RegistryError) in contents = wanted }
    }

    /// What the file holds.
    func contents() throws -> RegistryContents { try Registry(folder: path).contents() }

    /// The results in the file.
    func results() throws -> [String: ReportedResult] { try Registry(folder: path).results() }

    /// The file as the gateway keeps it.
    func book(now: Int64 = 1000) throws -> RegistryBook { try RegistryBook(folder: path, now: now) }
}

extension RegistryContents {
    /// Adds a peer whose key follows from its name.
    mutating func add(_ name: String, subnets: String...) throws {
        var generator = SystemRandomNumberGenerator()
        let peer = GatewayPeer(
            name: name, publicKey: publicKey(name), presharedKey: PresharedKey(key("psk " + name)), group: nil,
            siteSubnets: try subnets.map { try IPPrefix.strict($0) })
        try addPeer(peer, now: 1000, random: &generator)
    }

    /// The addresses that a peer holds.
    func held(_ name: String) -> [IPAddress] { leases.leases(of: name).filter(\.isHeld).map(\.address) }
}

/// A key that follows from a name.
func key(_ name: String) -> Key256 { Key256(blake2sOf: Array(name.utf8), size: 32) }

func publicKey(_ name: String) -> PublicKey { PublicKey(key(name)) }

/// A plane with what it had done, on a clock that the test sets.
final class PlaneBench {
    let plane: GatewayPlane
    private(set) var notes = GatewayNotes()
    private(set) var networks: [PacketTunnelNetworkSettings] = []
    private(set) var log: [String] = []
    private var fresh: RegistryContents?

    init(_ contents: RegistryContents) {
        // The closures need the bench, which is not there yet.
        final class Link { weak var bench: PlaneBench? }
        let link = Link()
        plane = GatewayPlane(
            GatewayLedger(contents) { 1000 }, seed: 1,
            host: GatewayHost(
                put: { link.bench?.notes.merge($0) },
                takeContents: {
                    defer { link.bench?.fresh = nil }
                    return link.bench?.fresh
                },
                setNetwork: { link.bench?.networks.append($0) }, log: { link.bench?.log.append("\($0): \($1)") }))
        link.bench = self
    }

    /// Everything that the plane wants of the tunnel.
    func outputs() -> [ControlPlaneOutput] {
        var outputs: [ControlPlaneOutput] = []
        while let output = plane.pollOutput() { outputs.append(output) }
        return outputs
    }

    /// The messages among ``outputs()``.
    func messages() throws -> [Message.Body] {
        try outputs().compactMap { output in
            guard case .send(let bytes, _) = output else { return nil }
            return try Message(bytes: bytes).body
        }
    }

    /// The changes of peers among ``outputs()``.
    func changes() -> [ControlSettings.Peer] {
        outputs().flatMap { output in
            guard case .change(let settings) = output else { return [ControlSettings.Peer]() }
            return settings.peers
        }
    }

    /// Says what the file holds now.
    func wake(_ contents: RegistryContents, at now: Instant) {
        fresh = contents
        plane.handleWake(now: now)
    }

    /// A HELLO of a client, and the answer.
    func hello(from name: String, holding: SnapshotVersion = .none, at now: Instant) throws
        -> HelloAcknowledgement.Answer?
    {
        let hello = Hello(
            nonce: 5, capabilities: .all, limits: .standard, holding: holding, families: [.ipv4, .ipv6])
        plane.handleMessage(Message(transaction: 9, body: .hello(hello)).bytes, from: publicKey(name), now: now)
        for body in try messages() {
            if case .helloAcknowledgement(let acknowledgement) = body { return acknowledgement.answer }
        }
        return nil
    }
}

/// So many seconds after the machine started.
func second(_ count: UInt64) -> Instant { Instant.zero + TimeSpan.seconds(count) }
