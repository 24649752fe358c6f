import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Argument parser")
struct ArgumentParserTests {
    private static let table = [
        Command(
            name: "copy", summary: "", positionals: [.init(name: "FROM"), .init(name: "TO", isRequired: false)],
            options: [
                .init(name: "name", value: "NAME", summary: "", isRequired: true),
                .init(name: "mode", value: "MODE", summary: ""), .json,
            ], run: { _, _ in .success }),
        Command(name: "list", summary: "", run: { _, _ in .success }),
        Command(
            name: "disk add", summary: "", positionals: [.init(name: "NAME", isRepeated: true)],
            options: [.init(name: "tag", value: "TAG", summary: "", isRepeated: true)], run: { _, _ in .success }),
        Command(name: "disk remove", summary: "", run: { _, _ in .success }),
        Command(name: "secret", summary: "", isHidden: true, run: { _, _ in .success }),
    ]

    struct Accepted: Sendable {
        let arguments: [String]
        var values: [String: String] = ["name": "n"]
        var switches: Set<String> = []
        var positionals: [String] = ["a"]
    }

    @Test(
        "Right arguments",
        arguments: [
            Accepted(arguments: ["copy", "a", "--name", "n"]),
            Accepted(arguments: ["copy", "--name=n", "a"]),
            Accepted(arguments: ["copy", "--name=n", "a", "b"], positionals: ["a", "b"]),
            Accepted(arguments: ["copy", "--name=x=y", "a"], values: ["name": "x=y"]),
            Accepted(arguments: ["copy", "--name=--json", "a"], values: ["name": "--json"]),
            Accepted(arguments: ["copy", "--name", "-", "-"], values: ["name": "-"], positionals: ["-"]),
            Accepted(
                arguments: ["copy", "--json", "--name=n", "--", "--mode"], switches: ["json"], positionals: ["--mode"]),
            Accepted(arguments: ["copy", "a", "--name=n", "--mode=0"], values: ["name": "n", "mode": "0"]),
        ])
    func accepted(_ accepted: Accepted) throws {
        let parsed = try ArgumentParser.parse(accepted.arguments, table: Self.table)
        #expect(parsed.values == accepted.values)
        #expect(parsed.switches == accepted.switches)
        #expect(parsed.positionals == accepted.positionals)
    }

    @Test("Verbs of several words, arguments and options that repeat")
    func severalWords() throws {
        let parsed = try ArgumentParser.parse(
            ["disk", "add", "a", "--tag", "x", "b", "--tag=y", "c"], table: Self.table)
        #expect(parsed.command.name == "disk add")
        #expect(parsed.positionals == ["a", "b", "c"])
        #expect(parsed.lists == ["tag": ["x", "y"]])
        #expect(parsed.command.usage == "providerhost disk add NAME… [--tag TAG]…")
    }

    struct Refused: Sendable {
        let arguments: [String]
        let code: UsageErrorCode
        let says: [String]
    }

    @Test(
        "Wrong arguments, each with its error and the next step",
        arguments: [
            Refused(arguments: [], code: .missingVerb, says: ["help"]),
            Refused(arguments: ["cpoy"], code: .unknownVerb, says: ["cpoy", "`copy`"]),
            Refused(arguments: ["zzzzzz"], code: .unknownVerb, says: ["copy, list, disk."]),
            Refused(arguments: ["secre"], code: .unknownVerb, says: ["copy, list, disk."]),
            Refused(arguments: ["disk"], code: .missingVerb, says: ["`disk`", "help disk"]),
            Refused(arguments: ["disk", "--tag=x"], code: .missingVerb, says: ["`disk`"]),
            Refused(arguments: ["disk", "ad", "x"], code: .unknownVerb, says: ["`disk ad`", "`disk add`"]),
            Refused(arguments: ["disk", "zzzzzz"], code: .unknownVerb, says: ["help disk"]),
            Refused(arguments: ["disk", "add"], code: .missingArgument, says: ["`disk add`", "NAME", "[--tag TAG]…"]),
            Refused(arguments: ["disk", "remove", "x"], code: .surplusArgument, says: ["`x`"]),
            Refused(arguments: ["--name"], code: .unknownVerb, says: ["--name"]),
            Refused(arguments: ["copy", "--nam=n", "a"], code: .unknownOption, says: ["--nam`", "`--name`"]),
            Refused(arguments: ["copy", "--n", "a"], code: .unknownOption, says: ["--n`"]),
            Refused(arguments: ["copy", "-n", "a"], code: .unknownOption, says: ["-n"]),
            Refused(arguments: ["list", "--json"], code: .unknownOption, says: ["--json", "help list"]),
            Refused(arguments: ["copy", "--name"], code: .missingValue, says: ["--name NAME"]),
            Refused(arguments: ["copy", "--name="], code: .missingValue, says: ["--name"]),
            Refused(arguments: ["copy", "--name", "--json", "a"], code: .missingValue, says: ["--name"]),
            Refused(arguments: ["copy", "--json=1", "--name=n", "a"], code: .unexpectedValue, says: ["--json"]),
            Refused(arguments: ["copy", "--name=n", "--name=n", "a"], code: .repeatedOption, says: ["--name"]),
            Refused(arguments: ["copy", "--json", "--json", "--name=n", "a"], code: .repeatedOption, says: ["--json"]),
            Refused(arguments: ["copy", "a"], code: .missingOption, says: ["--name", "Usage: "]),
            Refused(arguments: ["copy", "--name=n"], code: .missingArgument, says: ["FROM", "Usage: "]),
            Refused(arguments: ["copy", "--name=n", "a", "b", "c"], code: .surplusArgument, says: ["`c`"]),
            Refused(arguments: ["list", "a\u{1B}[31m"], code: .surplusArgument, says: ["a?[31m"]),
        ])
    func refused(_ refused: Refused) throws {
        let error = try #require(throws: UsageError.self) {
            try ArgumentParser.parse(refused.arguments, table: Self.table)
        }
        #expect(error.code == refused.code)
        for text in refused.says { #expect(error.description.contains(text), "\(error)") }
    }

    @Test("The table of the program has no two equal names, and every line of help has a text")
    func table() {
        let table = CommandTable.all
        #expect(Set(table.map(\.name)).count == table.count)
        for command in table {
            #expect(!command.summary.isEmpty)
            #expect(Set(command.options.map(\.name)).count == command.options.count)
            #expect(command.options.allSatisfy { !$0.summary.isEmpty })
        }
    }
}
