/// One verb as data: parsing, help, and whatever is generated later read it from here.
struct Command: Sendable {
    /// The word that selects it.
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

        static let json = Option(name: "json", summary: "Print JSON, an object per line, with a `schema` field.")
    }

    /// The verb with its arguments as the help shows it.
    var usage: String {
        let options = options.map { option in
            let text = "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
            return option.isRequired ? text : "[\(text)]"
        }
        let positionals = positionals.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        return ([CommandLineTool.name, name] + positionals + options).joined(separator: " ")
    }
}

/// What was given to a verb.
struct Arguments: Sendable {
    let command: Command
    /// Values of options by name.
    var values: [String: String] = [:]
    /// Switches that are set, by name.
    var switches: Set<String> = []
    /// Arguments by position.
    var positionals: [String] = []

    /// Whether `--json` is set.
    var wantsJSON: Bool { switches.contains(Command.Option.json.name) }
}
