public import ProviderKit

/// One line of a tunnel's log.
public struct LogLine: Codable, Sendable, Equatable {
    /// When it was written, in seconds since 1970.
    public var time: Double
    /// The word of the level.
    public var level: String
    public var text: String

    /// The level; one that is not known counts as info.
    public var severity: LogLevel { LogLevel.allCases.first { "\($0)" == level } ?? .info }

    /// Makes a line.
    public init(time: Double, level: LogLevel, text: String) {
        self.time = time
        self.level = "\(level)"
        self.text = text
    }
}
