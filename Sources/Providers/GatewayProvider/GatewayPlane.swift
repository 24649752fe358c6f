import GatewayRegistry
import ProviderKit
import SettingsPush
import WireGuard
import WireGuardProvider

/// The control plane of a gateway: joins the push protocol's machine with the registry.
///
/// ```
///  engine ──messages, sessions──► GatewayMachine ──asks──► GatewayLedger   (control thread)
///    ▲                                 │                    │ notes  ▲ contents
///    └──── messages, peer changes ◄────┘                    ▼        │
///                                                         RegistryKeeper   (a thread of its own, with the file)
/// ```
final class GatewayPlane: ControlPlane {
    /// How often memory of silent peers is given up.
    private static let forgetInterval = TimeSpan.seconds(60)

    private var machine: GatewayMachine
    private var ledger: GatewayLedger
    /// What engine and network were last told, nil for nothing.
    private var announced: RegistryContents?
    private var nextForgetting = Instant.distantFuture
    private var outputs: [ControlPlaneOutput] = []
    private var polled = 0
    private let host: GatewayHost

    /// Makes the plane of a tunnel that has no peers yet.
    ///
    /// - Parameters:
    ///   - ledger: The registry's contents, which the network settings of the start were made from.
    ///   - seed: Keeps two gateways out of step.
    ///   - host: Where everything goes that is not the tunnel's.
    init(_ ledger: GatewayLedger, seed: UInt64, host: GatewayHost) {
        self.ledger = ledger
        self.host = host
        machine = GatewayMachine(seed: seed)
    }

    func start(now: Instant) {
        nextForgetting = now + Self.forgetInterval
        finish(now)
    }

    func handleMessage(_ message: [UInt8], from peer: PublicKey, now: Instant) {
        machine.handleMessage(message, from: peer, now: now, source: &ledger)
        finish(now)
    }

    func sessionUp(_ peer: PublicKey, now: Instant) {
        machine.sessionUp(peer, now: now)
        if ledger.contents.peer(with: peer)?.state == .draining { askToLeave(peer, now) }
        finish(now)
    }

    func sessionLost(_ peer: PublicKey, now: Instant) {
        machine.sessionLost(peer)
        finish(now)
    }

    /// The registry's contents have changed.
    func handleWake(now: Instant) {
        if let contents = host.takeContents() { ledger.contents = contents }
        finish(now)
    }

    var nextTimeout: Instant? { min(nextForgetting, machine.nextTimeout ?? .distantFuture) }

    func handleTimeout(now: Instant) {
        if now >= nextForgetting {
            nextForgetting = now + Self.forgetInterval
            machine.forgetIdlePeers(now: now)
        }
        machine.handleTimeout(now: now, source: &ledger)
        finish(now)
    }

    func pollOutput() -> ControlPlaneOutput? {
        guard polled < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            polled = 0
            return nil
        }
        defer { polled += 1 }
        return outputs[polled]
    }

    /// Turns what the machine decided and what changed in the registry into outputs and notes.
    private func finish(_ now: Instant) {
        announce(now)
        while let output = machine.pollOutput() {
            switch output {
            case .send(let bytes, let peer): outputs.append(.send(bytes, to: peer))
            case .result(let result, let peer):
                guard let name = ledger.note(result, of: peer) else { continue }
                host.log(.info, "`\(name)`: \(result.status), serial \(result.version.serial)")
            case .refused(let reason, let peer): ledger.noteRefusal(reason, of: peer)
            case .released(let peer): ledger.noteRelease(of: peer)
            case .left: continue
            }
        }
        let notes = ledger.takeNotes()
        if !notes.isEmpty { host.put(notes) }
    }

    /// Tells engine, network and machine what became another.
    private func announce(_ now: Instant) {
        let (former, contents) = (announced, ledger.contents)
        guard former != contents else { return }
        announced = contents
        let changes = ControlSettings(from: former, to: contents)
        if !changes.isEmpty { outputs.append(.change(changes)) }
        // The tunnel started with the network settings of the first contents.
        guard let former else { return }
        let network = PacketTunnelNetworkSettings(gateway: contents)
        if network != PacketTunnelNetworkSettings(gateway: former) { host.setNetwork(network) }
        for peer in former.peers.values where contents.peer(with: peer.publicKey) == nil {
            machine.removePeer(peer.publicKey)
        }
        for peer in contents.peers.values {
            if contents.versions[peer.name] != former.versions[peer.name] {
                machine.snapshotChanged(of: peer.publicKey, now: now)
            }
            if peer.state == .draining, former.peers[peer.name]?.state != .draining { askToLeave(peer.publicKey, now) }
        }
    }

    private func askToLeave(_ peer: PublicKey, _ now: Instant) {
        machine.sendGoAway(GoAway(action: .useAnother, delaySeconds: 0), to: peer, now: now)
    }
}

/// What ``GatewayPlane`` has done outside of the tunnel; nothing here waits.
struct GatewayHost {
    /// Keeps notes for the registry.
    let put: (GatewayNotes) -> Void
    /// The registry's contents, if they changed.
    let takeContents: () -> RegistryContents?
    /// Gives the interface other settings.
    let setNetwork: (PacketTunnelNetworkSettings) -> Void
    /// Writes a line to the log.
    let log: (LogLevel, String) -> Void
}
