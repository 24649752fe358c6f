import ProviderKit
import Synchronization

/// Sends lines to the manager without ever waiting for it.
final class WorkerLog: Sendable {
    private let channel: WorkerChannel
    private let level: LogLevel
    private let lost = Atomic<Int>(0)

    init(_ channel: WorkerChannel, level: LogLevel) {
        self.channel = channel
        self.level = level
    }

    /// Sends one line; it is lost, and counted, while the manager is slow.
    func write(_ level: LogLevel, _ message: String) {
        guard level <= self.level else { return }
        let missing = lost.exchange(0, ordering: .relaxed)
        if missing > 0, !channel.sendIfReady(.log(.warning, "\(missing) log lines were lost")) {
            lost.add(missing + 1, ordering: .relaxed)
            return
        }
        if !channel.sendIfReady(.log(level, Self.line(message))) { lost.add(1, ordering: .relaxed) }
    }

    /// One line of at most ``WorkerMessage/logLineLimit`` bytes: control characters become spaces, a long text is cut
    /// at a character.
    static func line(_ message: String) -> String {
        var line = ""
        var length = 0
        let ellipsis = "…"
        for scalar in message.unicodeScalars {
            let isControl =
                scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
            let scalar = isControl ? " " : scalar
            length += UTF8.width(scalar)
            if length > WorkerMessage.logLineLimit - ellipsis.utf8.count { return line + ellipsis }
            line.unicodeScalars.append(scalar)
        }
        return line
    }
}
