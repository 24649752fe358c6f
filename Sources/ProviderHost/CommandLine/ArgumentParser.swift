internal import HostRuntime
internal import ProviderKit

/// Turns arguments into a verb with its values: long options only, `--x=y` or `--x y`, `--` ends options.
enum ArgumentParser {
    /// Parses the arguments after the program's name.
    ///
    /// Names are never abbreviated: a script that works today works after an option was added.
    ///
    /// - Throws: ``UsageError`` that names the argument and the closest right one.
    static func parse(_ arguments: [String], table: [Command] = CommandTable.all) throws(UsageError) -> Arguments {
        let command = try command(of: arguments, in: table)
        var parsed = Arguments(command: command)
        var rest = arguments.dropFirst(command.words.count)
        var optionsEnded = false
        while let argument = rest.popFirst() {
            if optionsEnded || !argument.hasPrefix("-") || argument == "-" {
                parsed.positionals.append(argument)
            } else if argument == "--" {
                optionsEnded = true
            } else {
                try parseOption(argument, rest: &rest, into: &parsed)
            }
        }
        try check(parsed)
        return parsed
    }

    /// Whether the caller asked for JSON, also where the arguments are wrong otherwise.
    static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// Finds the verb that the arguments begin with; of several the longest.
    static func command(of arguments: [String], in table: [Command]) throws(UsageError) -> Command {
        guard let first = arguments.first else { throw UsageError(.missingVerb) }
        let candidates = table.filter { arguments.starts(with: $0.words) }
        if let command = candidates.max(by: { $0.words.count < $1.words.count }) { return command }
        let family = table.filter { $0.words.first == first }
        guard !family.isEmpty else {
            let names = table.filter { !$0.isHidden }.map { $0.words[0] }
            throw UsageError(
                .unknownVerb, cause: "There is no verb `\(first.printable)`.",
                remedy: suggestion(for: first, in: names) ?? "The verbs are \(names.unique.joined(separator: ", ")).")
        }
        // Words of the family's verbs; what follows may be any argument.
        let depth = family.map(\.words.count).max() ?? 1
        let asked = arguments.prefix(depth).prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        throw UsageError(
            asked == first ? .missingVerb : .unknownVerb,
            cause: asked == first ? "`\(first)` needs a verb." : "There is no verb `\(asked.printable)`.",
            remedy: suggestion(for: asked, in: family.map(\.name)) ?? "See `\(CommandLineTool.name) help \(first)`.")
    }

    private static func parseOption(
        _ argument: String, rest: inout ArraySlice<String>, into parsed: inout Arguments
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let options = parsed.command.options
        guard argument.hasPrefix("--"), let option = options.first(where: { "--" + $0.name == parts[0] }) else {
            let names = options.map { "--" + $0.name }
            throw UsageError(
                .unknownOption,
                cause: "`\(parsed.command.name)` has no option `\(String(parts[0]).printable)`.",
                remedy: suggestion(for: String(parts[0]), in: names) ?? seeHelp(parsed.command))
        }
        let given = parts.count == 2 ? String(parts[1]) : nil
        guard option.isRepeated || parsed.values[option.name] == nil, !parsed.switches.contains(option.name) else {
            throw UsageError(
                .repeatedOption, cause: "--\(option.name) is given twice.", remedy: "Give it once.")
        }
        guard let valueName = option.value else {
            guard given == nil else {
                throw UsageError(
                    .unexpectedValue, cause: "--\(option.name) takes no value.",
                    remedy: "Write --\(option.name) alone.")
            }
            parsed.switches.insert(option.name)
            return
        }
        // A value that looks like an option is a forgotten value far more often than a value.
        guard let value = given ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()), !value.isEmpty else {
            throw UsageError(
                .missingValue, cause: "--\(option.name) needs a value.",
                remedy: "Write --\(option.name) \(valueName), or --\(option.name)=\(valueName).")
        }
        parsed.values[option.name] = value
        if option.isRepeated { parsed.lists[option.name, default: []].append(value) }
    }

    private static func check(_ parsed: Arguments) throws(UsageError) {
        let command = parsed.command
        if let option = command.options.first(where: { $0.isRequired && parsed.values[$0.name] == nil }) {
            throw UsageError(
                .missingOption, cause: "`\(command.name)` needs --\(option.name).",
                remedy: "Usage: \(command.usage)")
        }
        let required = command.positionals.filter(\.isRequired)
        guard parsed.positionals.count >= required.count else {
            throw UsageError(
                .missingArgument,
                cause: "`\(command.name)` needs the argument \(required[parsed.positionals.count].name).",
                remedy: "Usage: \(command.usage)")
        }
        let mayRepeat = command.positionals.last?.isRepeated == true
        guard mayRepeat || parsed.positionals.count <= command.positionals.count else {
            let surplus = parsed.positionals[command.positionals.count]
            throw UsageError(
                .surplusArgument, cause: "`\(command.name)` takes no argument `\(surplus.printable)`.",
                remedy: "Usage: \(command.usage)")
        }
    }

    private static func suggestion(for text: String, in names: [String]) -> String? {
        Suggestion.closest(to: text, in: names, limit: 1, within: max(2, text.count / 3)).first
            .map { "Did you mean `\($0)`?" }
    }

    private static func seeHelp(_ command: Command) -> String {
        "See `\(CommandLineTool.name) help \(command.name)`."
    }
}

extension [String] {
    /// The elements without those that came before.
    var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

/// What is wrong with the arguments.
enum UsageErrorCode: Int, TunnelErrorCode, CaseIterable {
    case missingVerb = 1
    case unknownVerb = 2
    case unknownOption = 3
    case repeatedOption = 4
    case missingValue = 5
    case unexpectedValue = 6
    case missingOption = 7
    case missingArgument = 8
    case surplusArgument = 9
    case invalidValue = 10

    static var domain: String { "ProviderHostUsageErrorDomain" }

    var cause: String {
        switch self {
        case .missingVerb: "No verb is given."
        case .unknownVerb: "There is no such verb."
        case .unknownOption: "There is no such option."
        case .repeatedOption: "An option is given twice."
        case .missingValue: "An option needs a value."
        case .unexpectedValue: "An option takes no value."
        case .missingOption: "A required option is missing."
        case .missingArgument: "A required argument is missing."
        case .surplusArgument: "There are too many arguments."
        case .invalidValue: "The value of an option is not valid."
        }
    }

    var remedy: String { "See `\(CommandLineTool.name) help`." }
}

/// Arguments that are wrong, and how they are right.
typealias UsageError = CodedError<UsageErrorCode>
