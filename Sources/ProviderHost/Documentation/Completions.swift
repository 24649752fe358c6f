/// Shell completions, made from the table of verbs.
enum Completions {
    /// The shells that there is a completion for.
    enum Shell: String, CaseIterable { case bash, zsh, fish }

    /// The script for a shell.
    static func script(for shell: Shell, table: [Command] = CommandTable.all) -> String {
        let shown = table.filter { !$0.isHidden }
        return switch shell {
        case .bash: bash(shown)
        case .zsh: zsh(shown)
        case .fish: fish(shown)
        }
    }

    /// Verbs whose first argument is a profile complete with the names that the manager gives.
    static func takesProfile(_ command: Command) -> Bool { command.positionals.first?.name == "NAME" }

    private static let profiles = "\(CommandLineTool.name) profile list 2>/dev/null | cut -d' ' -f1"

    private static func firstWords(_ table: [Command]) -> [String] {
        var seen: Set<Substring> = []
        return table.compactMap { $0.name.split(separator: " ").first }.filter { seen.insert($0).inserted }.map(
            String.init)
    }

    private static func secondWords(_ table: [Command]) -> [(first: String, second: [String])] {
        firstWords(table).map { first in
            (first, table.filter { $0.name.hasPrefix(first + " ") }.map { String($0.name.dropFirst(first.count + 1)) })
        }
        .filter { !$0.second.isEmpty }
    }

    private static func bash(_ table: [Command]) -> String {
        let subjects = secondWords(table).map {
            "        \($0.first)) words=\"\($0.second.joined(separator: " "))\" ;;"
        }
        let options = table.map { command in
            let names = command.options.map { "--" + $0.name }.joined(separator: " ")
            let words = takesProfile(command) ? names + " $(\(profiles))" : names
            return "        \"\(command.name)\") words=\"\(words)\" ;;"
        }
        return """
            # bash completion for \(CommandLineTool.name); made from its table of verbs.
            _\(CommandLineTool.name)() {
                local current=${COMP_WORDS[COMP_CWORD]} words= verb=${COMP_WORDS[1]}
                if [ "$COMP_CWORD" = 1 ]; then
                    COMPREPLY=($(compgen -W "\(firstWords(table).joined(separator: " "))" -- "$current"))
                    return
                fi
                if [ "$COMP_CWORD" = 2 ]; then
                    case $verb in
            \(subjects.joined(separator: "\n"))
                    esac
                    [ -z "$words" ] || { COMPREPLY=($(compgen -W "$words" -- "$current")); return; }
                fi
                case $verb in \(secondWords(table).map(\.first).joined(separator: "|"))) verb="$verb ${COMP_WORDS[2]}" ;; esac
                case $verb in
            \(options.joined(separator: "\n"))
                esac
                COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
            }
            complete -F _\(CommandLineTool.name) \(CommandLineTool.name)

            """
    }

    private static func zsh(_ table: [Command]) -> String {
        let rows = table.map { command in
            let options = command.options.map {
                "--\($0.name)[\(quoted($0.summary))]" + ($0.value.map { ":\($0):_files" } ?? "")
            }
            let words =
                options.map { "'\($0)'" }
                + (takesProfile(command) ? ["\"1:profile:($(\(profiles)))\""] : ["'*:file:_files'"])
            return "        '\(command.name)') _arguments \(words.joined(separator: " ")) ;;"
        }
        let seconds = secondWords(table).map {
            "        \($0.first)) compadd \($0.second.joined(separator: " ")); return ;;"
        }
        return """
            #compdef \(CommandLineTool.name)
            # zsh completion for \(CommandLineTool.name); made from its table of verbs.
            _\(CommandLineTool.name)() {
                if (( CURRENT == 2 )); then compadd \(firstWords(table).joined(separator: " ")); return; fi
                local verb=$words[2]
                if (( CURRENT == 3 )); then
                    case $verb in
            \(seconds.joined(separator: "\n"))
                    esac
                fi
                case $verb in
                    \(secondWords(table).map(\.first).joined(separator: "|"))) verb="$verb $words[3]"; shift 2 words; (( CURRENT -= 2 )) ;;
                    *) shift words; (( CURRENT -= 1 )) ;;
                esac
                case $verb in
            \(rows.joined(separator: "\n"))
                esac
            }
            _\(CommandLineTool.name) "$@"

            """
    }

    private static func fish(_ table: [Command]) -> String {
        let name = CommandLineTool.name
        var lines = ["# fish completion for \(name); made from its table of verbs.", "complete -c \(name) -f"]
        for first in firstWords(table) {
            let summary = table.first { $0.name == first }?.summary ?? ""
            lines.append("complete -c \(name) -n __fish_use_subcommand -a \(first) -d '\(quoted(summary))'")
        }
        for command in table {
            let words = command.name.split(separator: " ")
            let condition = words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
            if words.count > 1 {
                lines.append(
                    "complete -c \(name) -n '__fish_seen_subcommand_from \(words[0])' -a \(words[1]) -d '\(quoted(command.summary))'"
                )
            }
            for option in command.options {
                lines.append(
                    "complete -c \(name) -n '\(condition)' -l \(option.name)\(option.value == nil ? "" : " -r -F")"
                        + " -d '\(quoted(option.summary))'")
            }
            if takesProfile(command) {
                lines.append("complete -c \(name) -n '\(condition)' -a '(\(profiles.replacing("'", with: "\"")))'")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A text inside single quotes and square brackets of a shell.
    private static func quoted(_ text: String) -> String {
        text.replacing("'", with: "").replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: ",")
    }
}
