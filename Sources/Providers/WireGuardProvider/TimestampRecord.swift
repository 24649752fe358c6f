package import ProviderKit
import WireGuard

/// Keeps our initiations' time stamps rising across restarts, and tells of clocks that jump.
///
/// One file serves all tunnels of the machine: the latest stamp that any of them reserved. A tunnel that starts with a
/// stamp of another one is ahead of its peers' last, which is all that they ask for.
package struct TimestampRecord: Sendable {
    /// The name of the file in the state directory.
    static let fileName = "timestamp"

    private let file: StateFile?
    private let log: @Sendable (LogLevel, String) -> Void

    /// A record in a directory; without one nothing outlives the tunnel.
    package init(directory: String?, log: @escaping @Sendable (LogLevel, String) -> Void) {
        file = directory.map { StateFile(path: $0 + "/" + Self.fileName) }
        self.log = log
    }

    /// The guard that goes on from what was stored.
    func restored() -> TimestampGuard {
        TimestampGuard(last: stored ?? .zero)
    }

    /// Stores what the guard needs at the next start, at most once an hour; before its last stamp is sent.
    func keep(_ timestamps: inout TimestampGuard) {
        if let jump = timestamps.takeJump() { log(.warning, jump.warning) }
        guard let reserved = timestamps.takeUnstored(), let file, (stored ?? .zero) < reserved else { return }
        do {
            try file.write(reserved.text + "\n")
        } catch {
            log(.warning, "The time of handshakes is not stored: \(error). \(Self.consequence)")
        }
    }

    private var stored: TAI64N? {
        guard let file else { return nil }
        do {
            guard let text = try file.read() else { return nil }
            if let stamp = TAI64N(text: text.last == "\n" ? text.dropLast() : text[...]) { return stamp }
            log(.warning, "\(file.path) holds no time stamp; it will be replaced. \(Self.consequence)")
        } catch {
            log(.warning, "The time of earlier handshakes is not known: \(error). \(Self.consequence)")
        }
        return nil
    }

    private static let consequence = "Peers refuse handshakes if the clock goes back before the next start."
}

extension ClockJump {
    /// What to tell the user.
    fileprivate var warning: String {
        let way = "The wall clock went \(seconds < 0 ? "back" : "ahead") by \(seconds.magnitude) s."
        return isBelieved
            ? way + " Handshakes go on."
            : way + " Handshakes go on with the time before plus what has passed since; set the clock if it is wrong."
    }
}
