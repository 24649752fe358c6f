internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `log`: the last lines of a tunnel's log.
enum LogVerb {
    static let command = Command(
        name: "log", summary: "Show the log of a profile's tunnel.", positionals: [.init(name: "NAME")],
        options: [.init(name: "follow", summary: "Go on with every line, until Ctrl-C."), .json]
    ) { arguments, console in
        let session = try ProfileAccess().manager(named: arguments.positionals[0]).connection
        for line in try Waiting.run({ try await session.log() }) { show(line, console, asJSON: arguments.wantsJSON) }
        guard arguments.switches.contains("follow") else { return .success }
        try Waiting.run {
            for try await line in try session.logLines() { show(line, console, asJSON: arguments.wantsJSON) }
        }
        return .success
    }

    private static func show(_ line: LogLine, _ console: Console, asJSON: Bool) {
        if asJSON { return console.print(json: Object(time: line.time, level: line.level, message: line.text)) }
        let time = Date(timeIntervalSince1970: line.time).formatted(.iso8601)
        console.print("\(time) \(line.level) \(line.text.printable)")
    }

    /// The object of `--json`.
    private struct Object: Encodable {
        let schema = Report.schema
        let event = "log"
        let time: Double
        let level: String
        let message: String

        private enum CodingKeys: String, CodingKey { case schema, event, time, level, message }
    }
}
