/// `help`: the table of verbs, or all about one.
enum HelpVerb {
    static let command = Command(
        name: "help", summary: "Show the verbs, or all about one of them.",
        positionals: [.init(name: "verb", isRequired: false), .init(name: "word", isRequired: false)]
    ) { arguments, console in
        if !arguments.positionals.isEmpty {
            let verb = arguments.positionals.joined(separator: " ")
            console.output(text(of: try ArgumentParser.command(verb, in: CommandTable.all)))
        } else {
            console.output(overview(of: CommandTable.all))
        }
        return .success
    }

    /// The usual spellings, `--help`, `-h` and `--version`, as verbs.
    static func rewritten(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        if options.contains("--help") || options.contains("-h") {
            return ["help"]
                + ArgumentParser.verbWords(arguments, in: CommandTable.all).filter {
                    !$0.hasPrefix("-") && $0 != "help"
                }
        }
        return arguments.first == "--version" ? ["version"] + arguments.dropFirst() : arguments
    }

    /// The help without a verb.
    static func overview(of table: [Command]) -> String {
        let verbs = table.filter { !$0.isHidden }.map { ($0.name, $0.summary) }
        return """
            \(CommandLineTool.name) runs packet tunnels: it loads a provider by its bundle identifier and gives it an interface.

            Usage: \(CommandLineTool.name) VERB [options]

            \(columns(verbs))

            See `\(CommandLineTool.name) help VERB` for one verb.

            """
    }

    /// The help for one verb.
    static func text(of command: Command) -> String {
        var paragraphs = ["Usage: \(command.usage)", command.summary]
        if !command.options.isEmpty {
            paragraphs.append(
                columns(
                    command.options.map { option in
                        ("--\(option.name)" + (option.value.map { " \($0)" } ?? ""), option.summary)
                    }))
        }
        if !command.discussion.isEmpty { paragraphs.append(command.discussion) }
        paragraphs.append(
            "Exit status:\n" + columns(ExitCode.allCases.map { ("\($0.rawValue)", $0.summary) }))
        return paragraphs.joined(separator: "\n\n") + "\n"
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  \($0)\(String(repeating: " ", count: width - $0.count))  \($1)" }.joined(separator: "\n")
    }
}
