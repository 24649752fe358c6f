internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// The tunnels of this machine that can be asked: those with a control socket of WireGuard's.
enum Tunnels {
    private static let directory = "wireguard"

    /// Looks at one tunnel, or at every one that answers.
    ///
    /// - Throws: ``TunnelsError`` when there is none, or the one does not answer.
    static func views(named name: String?) throws -> [TunnelView] {
        if let name {
            guard InterfaceName.isValid(name) else { throw TunnelsError(.noSuchTunnel) }
            return [try view(name)]
        }
        // One that ends meanwhile, or that is another program's, is left out.
        return ControlSocketClient.interfaces(in: directory).compactMap { try? view($0) }
    }

    private static func view(_ name: String) throws -> TunnelView {
        let reply: [UInt8]
        do {
            reply = try ControlSocketClient.ask("get=view\n\n", directory: directory, interface: name)
        } catch {
            throw TunnelsError(.noSuchTunnel, cause: "The tunnel \(name) cannot be asked: \(error.cause)")
        }
        guard let view = TunnelView(interface: name, reply: reply) else {
            throw TunnelsError(
                .noAnswer, cause: "The control socket of \(name) gives no answer that can be read.",
                remedy: "Look with `wg show \(name)` whether it is another program's.")
        }
        return view
    }
}

/// The codes of ``TunnelsError``.
enum TunnelsErrorCode: Int, TunnelErrorCode, CaseIterable {
    case noSuchTunnel = 1
    case noAnswer = 2
    case notWritten = 3
    case notTold = 4

    static var domain: String { "ProviderHostTunnelsErrorDomain" }

    var cause: String {
        switch self {
        case .noSuchTunnel: "There is no such tunnel."
        case .noAnswer: "The tunnel does not answer."
        case .notWritten: "The file could not be written."
        case .notTold: "The tunnel does not tell its settings."
        }
    }

    var remedy: String {
        switch self {
        case .noSuchTunnel: "See `wg show interfaces`; the control sockets are root's."
        case .noAnswer: "Try again; if it stays so, see the log of the tunnel."
        case .notWritten: "Check the folder of the file."
        case .notTold: "Ask a tunnel of org.providerhost.wireguard; a gateway's are in `gateway show`."
        }
    }
}

/// Why a tunnel could not be looked at.
typealias TunnelsError = CodedError<TunnelsErrorCode>
