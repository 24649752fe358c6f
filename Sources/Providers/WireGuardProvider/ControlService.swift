import PacketPath
import ProviderKit
import SettingsPush
import Synchronization
import WireGuard

/// Serves WireGuard's control protocol on one connection, on a thread of its own.
final class ControlService: Sendable {
    /// Peers that are described in one piece of a reply.
    private static let peersPerPiece = 128
    /// Allowed IPs in one piece of a reply.
    private static let prefixesPerPiece = 4096
    /// Peers and allowed IPs that are changed before the control loop does something else.
    private static let changesPerPart = 2048

    private let engine: Engine
    private let sockets: OuterSockets
    /// The report on the settings; nil for a tunnel whose settings others keep.
    private let report: (@Sendable () -> SettingsReport)?
    /// Held while settings are applied: operations of two clients do not mix.
    private let turn = Mutex<Void>(())

    init(_ engine: Engine, _ sockets: OuterSockets, report: (@Sendable () -> SettingsReport)?) {
        self.engine = engine
        self.sockets = sockets
        self.report = report
    }

    /// Starts a thread that serves the connection until its client goes.
    ///
    /// - Throws: ``PathError`` when the system gives no thread.
    func serve(_ connection: ControlConnection) throws(PathError) {
        try DataThread("wg-uapi") { [self] in
            run(connection)
            connection.close()
        }.detach()
    }

    /// The running configuration in the form of the control protocol, without any secret.
    func describe() -> String {
        var text = ""
        _ = describe(.withoutSecrets) {
            text += $0
            return true
        }
        return text
    }

    /// Answers an application's message that is an operation of the control protocol, one that tells no secret.
    ///
    /// - Returns: nil for other messages.
    func reply(to message: [UInt8]) -> String? {
        var parser = ControlRequestParser()
        let requests = parser.read(message)
        guard requests.count == 1 else { return nil }
        switch requests[0] {
        case .settings: return settingsReply
        case .view:
            var text = ""
            let isComplete = describe(.view) {
                text += $0
                return true
            }
            return text + ControlRequest.trailer(isComplete ? .done : .failed, isSet: false)
        case .get, .set, .refused: return nil
        }
    }

    private var settingsReply: String {
        guard let report else { return ControlRequest.trailer(.unsupported, isSet: false) }
        return report().text + ControlRequest.trailer(.done, isSet: false)
    }

    /// What was counted of each peer until now; none once the engine has stopped.
    func counters() -> [PeerCounters] {
        guard let listing = engine.list() else { return [] }
        var counters: [PeerCounters] = []
        var rest = listing.peers[...]
        while !rest.isEmpty, let peers = engine.describe(rest.prefix(Self.peersPerPiece)) {
            rest = rest.dropFirst(Self.peersPerPiece)
            counters += peers.map(\.counters)
        }
        return counters
    }

    private func run(_ connection: ControlConnection) {
        var parser = ControlRequestParser()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        connection.noteWaiting()
        while let count = connection.read(into: &buffer) {
            connection.noteWorking()
            for request in parser.read(buffer[..<count]) {
                guard answer(request, on: connection) else { return }
            }
            // Private keys were in there.
            for index in 0..<count { buffer[index] = 0 }
            connection.noteWaiting()
        }
    }

    /// Answers one operation; false when the client is gone.
    private func answer(_ request: ControlRequest, on connection: ControlConnection) -> Bool {
        func finish(_ status: ControlStatus, isSet: Bool) -> Bool {
            connection.write(ControlRequest.trailer(status, isSet: isSet))
        }
        switch request {
        case .get, .view:
            var isThere = true
            let isComplete = describe(request == .get ? .everything : .view) { piece in
                // Each piece is work done, and the whole may take longer than the host is patient.
                connection.noteWorking()
                isThere = connection.write(piece)
                return isThere
            }
            return isThere && finish(isComplete ? .done : .failed, isSet: false)
        case .settings: return connection.write(settingsReply)
        case .set(let settings): return finish(apply(settings, for: connection), isSet: true)
        case .refused(let isSet, let status): return finish(status, isSet: isSet)
        }
    }

    /// Hands the running configuration to `write` piece by piece; false when that says so or the engine has stopped.
    private func describe(_ detail: StatusDetail, _ write: (String) -> Bool) -> Bool {
        guard let listing = engine.list() else { return false }
        let (port, mark) = sockets.status
        let status = InterfaceStatus(privateKey: listing.privateKey, listenPort: port, firewallMark: mark)
        guard write(status.lines(detail)) else { return false }
        if detail == .view, !write(engine.statistics.withLock(\.drops).lines) { return false }
        var rest = listing.peers[...]
        while !rest.isEmpty {
            guard let peers = engine.describe(rest.prefix(Self.peersPerPiece)) else { return false }
            rest = rest.dropFirst(Self.peersPerPiece)
            for peer in peers {
                guard write(peer.lines(detail)) else { return false }
                for start in stride(from: 0, to: peer.allowedIPs.count, by: Self.prefixesPerPiece) {
                    let prefixes = peer.allowedIPs[start...].prefix(Self.prefixesPerPiece)
                    guard write(PeerStatus.lines(of: prefixes)) else { return false }
                }
            }
        }
        return true
    }

    private func apply(_ settings: ControlSettings, for connection: ControlConnection) -> ControlStatus {
        guard let endpoints = resolve(settings) else { return .invalid }
        return turn.withLock { _ in
            if settings.listenPort != nil || settings.firewallMark != nil {
                guard sockets.change(port: settings.listenPort, mark: settings.firewallMark) else { return .portInUse }
            }
            for part in settings.parts(of: Self.changesPerPart) {
                guard engine.apply(part, endpoints: endpoints) else { return .failed }
                connection.noteWorking()
            }
            return .done
        }
    }

    /// The numeric endpoints of the peers, nil if one names an interface that is not there.
    private func resolve(_ settings: ControlSettings) -> [PublicKey: Endpoint]? {
        var endpoints: [PublicKey: Endpoint] = [:]
        for peer in settings.peers {
            guard let endpoint = peer.endpoint else { continue }
            guard let numeric = try? EndpointResolver.resolve(endpoint, ipv4: true, ipv6: true).first else {
                return nil
            }
            endpoints[peer.publicKey] = numeric
        }
        return endpoints
    }
}

extension PeerStatus {
    fileprivate var counters: PeerCounters {
        var values = ["receivedBytes": traffic.receivedBytes, "sentBytes": traffic.sentBytes]
        if let handshake = description.lastHandshake {
            values["latestHandshake"] = UInt64(max(0, handshake.unixSeconds))
        }
        return PeerCounters(name: description.publicKey.base64, values: values)
    }
}

extension DropCounters {
    /// The lines of `get=view`, with every reason, so that a reader sees the counters from the start.
    fileprivate var lines: String {
        WireGuard.DropReason.allCases.map { "dropped_packets=\($0.name) \(self[$0])\n" }.joined()
    }
}
