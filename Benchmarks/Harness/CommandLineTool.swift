import Foundation

/// The command line: `Benchmarks` lists the suites, `Benchmarks SUITE [options]` runs one.
enum CommandLineTool {
    /// Every suite, in the order of the list.
    static let suites: [Suite] = [.tunnel, .attack, .gateway, .aead, .path, .handshake, .routing, .peers]

    /// Runs what the arguments ask for and returns the exit status: 0, 1 failed, 2 usage, 130 interrupted.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            return try dispatch(arguments)
        } catch let error as BenchmarkError {
            complain(error)
            return error.kind.rawValue
        } catch {
            complain(BenchmarkError("\(error)", advice: "This is a fault of the benchmark program."))
            return BenchmarkError.Kind.failed.rawValue
        }
    }

    private static func dispatch(_ arguments: [String]) throws -> Int32 {
        guard let name = arguments.first, !["help", "--help", "-h"].contains(name) else {
            print(overview)
            return 0
        }
        let rest = Array(arguments.dropFirst())
        switch name {
        case TunnelEndpoint.verb: return try TunnelEndpoint.run(rest)
        case Crowd.verb: return try Crowd.run(rest)
        case HelloCrowd.verb: return try HelloCrowd.run(rest)
        case Numbers.verb: return try Numbers.run(rest)
        case Blast.verb: return try Blast.run(rest)
        case Sink.verb: return try Sink.run(rest)
        default: break
        }
        guard let suite = suites.first(where: { $0.name == name }) else {
            throw BenchmarkError.usage(
                "there is no suite '\(name)'", advice: "Suites: \(suites.map(\.name).joined(separator: ", ")).")
        }
        guard !rest.contains("--help"), !rest.contains("-h") else {
            print(suite.usage)
            return 0
        }
        let options = try Options(rest, of: suite)
        Interruption.install()
        var report = Report(suite: suite.name, command: command(arguments))
        try suite.run(options, &report)
        print(options.has("--json") ? try report.json() : report.text)
        for failure in report.failures { complain(BenchmarkError(failure, advice: "See the figures above.")) }
        return report.failures.isEmpty ? 0 : 1
    }

    static var overview: String {
        let width = suites.map(\.name.count).max() ?? 0
        let lines = suites.map { "  \(pad($0.name, to: width))  \($0.summary)" }
        return """
            Usage: swift run -c release Benchmarks SUITE [options] [--json]

            \(lines.joined(separator: "\n"))

            Benchmarks SUITE --help lists the options of a suite.
            """
    }

    /// The command that gives this report again.
    private static func command(_ arguments: [String]) -> String {
        let quoted = arguments.map { text in
            let plain = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "-_=+./,:@".contains($0) }
            return plain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
        }
        return (["swift run -c release Benchmarks"] + quoted).joined(separator: " ")
    }

    /// Says a line about the progress where it does not disturb the report.
    static func say(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

    private static func complain(_ error: BenchmarkError) {
        say("Benchmarks: \(error.cause). \(error.advice)")
    }
}

/// `text` with spaces after it (or before, with `leading`) up to `width`.
func pad(_ text: String, to width: Int, leading: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.count))
    return leading ? spaces + text : text + spaces
}
