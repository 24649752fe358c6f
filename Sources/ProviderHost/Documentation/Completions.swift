/// Shell completions, made from the table of verbs.
enum Completions {
    /// The shells that there is a completion for.
    enum Shell: String, CaseIterable { case bash, zsh, fish }

    /// Lists the names of profiles, which the manager knows.
    private static let profiles = "\(CommandLineTool.name) profile list 2>/dev/null | cut -d' ' -f1"

    /// The script for a shell.
    static func script(for shell: Shell, table: [Command] = CommandTable.all) -> String {
        let shown = table.filter { !$0.isHidden }
        return switch shell {
        case .bash: bash(shown)
        case .zsh: "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + bash(shown)
        case .fish: fish(shown)
        }
    }

    /// What may follow the beginning of a command line, by that beginning: words of verbs, then options and profiles.
    private static func continuations(_ table: [Command]) -> [(beginning: String, words: [String])] {
        var beginnings = [""]
        var words: [String: [String]] = [:]
        for command in table {
            var beginning = ""
            for word in command.words {
                words[beginning, default: []].append(word)
                beginning += " " + word
                beginnings.append(beginning)
            }
            words[beginning, default: []] += command.options.map { "--" + $0.name }
            if command.takesProfile { words[beginning, default: []].append("$(\(profiles))") }
        }
        return beginnings.unique.map { ($0, (words[$0] ?? []).unique) }
    }

    private static func bash(_ table: [Command]) -> String {
        let rows = continuations(table)
        let known = rows.dropFirst().map { "\"\($0.beginning)\"" }.joined(separator: " | ")
        let cases = rows.map { row in
            "        \"\(row.beginning)\") words=\"\(row.words.joined(separator: " "))\" ;;"
        }
        return """
            # Completion for \(CommandLineTool.name); made from its table of verbs.
            _\(CommandLineTool.name)() {
                local current=${COMP_WORDS[COMP_CWORD]} words= verb= word
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case "$verb $word" in
                    \(known)) verb="$verb $word" ;;
                    *) break ;;
                    esac
                done
                case "$verb" in
            \(cases.joined(separator: "\n"))
                esac
                COMPREPLY=($(compgen -W "$words" -- "$current"))
                [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
            }
            complete -F _\(CommandLineTool.name) \(CommandLineTool.name)

            """
    }

    private static func fish(_ table: [Command]) -> String {
        let start = "complete -c \(CommandLineTool.name)"
        var lines = ["# Completion for \(CommandLineTool.name); made from its table of verbs.", start + " -f"]
        for command in table {
            for (index, word) in command.words.enumerated() {
                let summary = index == command.words.count - 1 ? command.summary : CommandTable.families[word] ?? ""
                lines.append(
                    "\(start) -n '\(condition(command.words.prefix(index)))' -a \(word) -d '\(quoted(summary))'")
            }
            let isGiven = condition(command.words[...])
            for option in command.options {
                let value = option.value == nil ? "" : " -r -F"
                lines.append("\(start) -n '\(isGiven)' -l \(option.name)\(value) -d '\(quoted(option.summary))'")
            }
            if command.takesProfile { lines.append("\(start) -n '\(isGiven)' -a \"(\(profiles))\"") }
        }
        return lines.unique.joined(separator: "\n") + "\n"
    }

    /// The fish condition that the words of a verb were given.
    private static func condition(_ words: ArraySlice<String>) -> String {
        words.isEmpty
            ? "__fish_use_subcommand"
            : words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
    }

    /// A text inside single quotes of a shell.
    private static func quoted(_ text: String) -> String { text.replacing("'", with: "") }
}

extension Command {
    /// Whether the first argument is the name of a profile.
    fileprivate var takesProfile: Bool { positionals.first?.name == "NAME" && words.first != "gateway" }
}
