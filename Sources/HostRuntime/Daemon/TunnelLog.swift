internal import Control
internal import Foundation
internal import ProviderKit

/// The last lines of one tunnel's log, in memory.
struct TunnelLog {
    /// How many lines are kept.
    static let capacity = 500

    private(set) var lines: [LogLine] = []

    /// Adds a line that is written now, and returns it.
    mutating func add(_ level: LogLevel, _ text: String) -> LogLine {
        let line = LogLine(time: Date.now.timeIntervalSince1970, level: level, text: text.printable)
        if lines.count >= Self.capacity { lines.removeFirst(Self.capacity / 4) }
        lines.append(line)
        return line
    }
}
