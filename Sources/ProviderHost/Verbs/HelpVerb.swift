/// `help`: the table of verbs, or all about one.
enum HelpVerb {
    static let command = Command(
        name: "help", summary: "Show the verbs, or all about one of them.",
        positionals: [.init(name: "verb", isRequired: false, isRepeated: true)]
    ) { arguments, console in
        // `help 'gateway peer'` is `help gateway peer`.
        let words = arguments.positionals.flatMap { $0.split(separator: " ").map(String.init) }
        let family = CommandTable.all.filter { $0.words.count > words.count && $0.words.starts(with: words) }
        if words.isEmpty {
            console.output(overview(of: CommandTable.all))
        } else if !family.isEmpty, !CommandTable.all.contains(where: { $0.words == words }) {
            console.output(overview(ofFamily: family, words))
        } else {
            console.output(text(of: try ArgumentParser.command(of: words, in: CommandTable.all)))
        }
        return .success
    }

    /// The usual spellings, `--help`, `-h` and `--version`, as verbs.
    static func rewritten(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        if options.contains("--help") || options.contains("-h") {
            let words = arguments.prefix { !$0.hasPrefix("-") }
            return ["help"] + words.drop { $0 == "help" }
        }
        return arguments.first == "--version" ? ["version"] + arguments.dropFirst() : arguments
    }

    /// The help without a verb.
    static func overview(of table: [Command]) -> String {
        // A family of verbs is one line.
        let verbs = table.filter { !$0.isHidden }.map(\.words[0]).unique.map { word in
            let summary = CommandTable.families[word] ?? table.first { $0.name == word }?.summary
            return (word, summary ?? "")
        }
        return """
            \(CommandLineTool.name) runs packet tunnels: it loads a provider by its bundle identifier and gives it an interface.

            Usage: \(CommandLineTool.name) VERB [options]

            \(columns(verbs))

            See `\(CommandLineTool.name) help VERB` for one verb.

            """
    }

    /// The help for verbs that begin with the same words.
    static func overview(ofFamily family: [Command], _ words: [String]) -> String {
        """
        Usage: \(CommandLineTool.name) \(words.joined(separator: " ")) VERB [options]

        \(columns(family.map { ($0.name, $0.summary) }))

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
