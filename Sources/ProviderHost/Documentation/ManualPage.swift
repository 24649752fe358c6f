/// The manual page in troff, made from the table of verbs.
enum ManualPage {
    /// The text of `providerhost.1`.
    static func text(table: [Command] = CommandTable.all) -> String {
        let name = CommandLineTool.name
        var lines = [
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(CommandLineTool.version)\"", ".SH NAME",
            "\(name) \\- runs packet tunnels", ".SH SYNOPSIS", ".B \(name)", ".I VERB", "[options]", ".SH VERBS",
        ]
        for command in table where !command.isHidden {
            lines += [".SS \(escaped(command.usage))", escaped(command.summary)]
            for option in command.options {
                let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
                lines += [".TP", "\\fB\\-\\-\(escaped(option.name))\\fR\(value)", escaped(option.summary)]
            }
            for paragraph in command.discussion.split(separator: "\n\n") {
                lines += [".PP", escaped(String(paragraph))]
            }
        }
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", escaped(code.summary)] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A text that troff takes as it is: no line of it begins a request.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").split(separator: "\n")
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }
}
