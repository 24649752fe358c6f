/// One verb as data: parsing, help, and whatever is generated later read it from here.
struct Command: Sendable {
    /// What selects it: one word, or several such as `gateway peer add`.
    let name: String
    /// What it does, in one line.
    let summary: String
    /// Arguments by position.
    var positionals: [Positional] = []
    /// Options in the order of the help.
    var options: [Option] = []
    /// More for `help VERB`; paragraphs separated by empty lines.
    var discussion: String = ""
    /// Whether the verb is for the program's own use.
    var isHidden: Bool = false
    /// Does it.
    let run: @Sendable (Arguments, Console) throws -> ExitCode

    /// An argument by position.
    struct Positional: Sendable {
        let name: String
        var isRequired: Bool = true
        /// Whether more of them may follow; for the last one only.
        var isRepeated: Bool = false
    }

    /// A long option.
    struct Option: Sendable {
        /// The name without the two dashes.
        let name: String
        /// What the help calls its value; nil for a switch.
        var value: String?
        /// What it does, in one line.
        let summary: String
        var isRequired: Bool = false
        /// Whether it may be given several times.
        var isRepeated: Bool = false

        static let json = Option(name: "json", summary: "Print JSON, an object per line, with a `schema` field.")
    }

    /// The words of the name.
    var words: [String] { name.split(separator: " ").map(String.init) }

    /// The verb with its arguments as the help shows it.
    var usage: String {
        let options = options.map { option in
            let text = "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
            return (option.isRequired ? text : "[\(text)]") + (option.isRepeated ? "…" : "")
        }
        let positionals = positionals.map {
            ($0.isRequired ? $0.name : "[\($0.name)]") + ($0.isRepeated ? "…" : "")
        }
        return ([CommandLineTool.name, name] + positionals + options).joined(separator: " ")
    }
}

/// What was given to a verb.
struct Arguments: Sendable {
    let command: Command
    /// Values of options by name; of a repeated one the last.
    var values: [String: String] = [:]
    /// All values of repeated options by name, in the order of the arguments.
    var lists: [String: [String]] = [:]
    /// Switches that are set, by name.
    var switches: Set<String> = []
    /// Arguments by position.
    var positionals: [String] = []

    /// Whether `--json` is set.
    var wantsJSON: Bool { switches.contains(Command.Option.json.name) }
}
