import ProviderKit

/// Why the engine of a tunnel could not start.
enum EngineError: TunnelError {
    /// The configuration was not given, or is wrong in a line.
    case configuration(String)
    /// The configuration runs commands, which the user did not allow.
    case hooksRefused(file: String, line: Int, hook: String)
    /// The tunnel was stopped before it had started.
    case stopped
    /// A part of the packet path failed.
    case path(String)
    /// Somebody deleted the interface.
    case interfaceGone

    var errorDomain: String { "WireGuardErrorDomain" }

    var errorCode: Int {
        switch self {
        case .configuration: 1
        case .hooksRefused: 2
        case .stopped: 3
        case .path: 4
        case .interfaceGone: 5
        }
    }

    var cause: String {
        switch self {
        case .configuration(let text): text
        case .hooksRefused(let file, let line, let hook):
            "\(file):\(line): \(hook) runs a shell command, and hooks are not allowed."
        case .stopped: "The tunnel was stopped before it had started."
        case .path(let text): text
        case .interfaceGone: "The interface was deleted from outside."
        }
    }

    var remedy: String {
        switch self {
        case .configuration: "Correct the configuration; wg-quick(8) has the grammar."
        case .hooksRefused: "Remove the line, or pass --allow-hooks if you trust the file."
        case .stopped: ""
        case .path: "See the cause."
        case .interfaceGone: "Start the tunnel again."
        }
    }
}
