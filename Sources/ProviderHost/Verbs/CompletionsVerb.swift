internal import HostRuntime
internal import ProviderKit

/// `completions` and `manual`: documents that installers put in their places.
enum CompletionsVerb {
    static let completions = Command(
        name: "completions", summary: "Print the completion of a shell: bash, zsh or fish.",
        positionals: [.init(name: "SHELL")]
    ) { arguments, console in
        guard let shell = Completions.Shell(rawValue: arguments.positionals[0]) else {
            throw UsageError(
                .invalidValue, cause: "There is no completion for `\(arguments.positionals[0].printable)`.",
                remedy: "The shells are \(Completions.Shell.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        console.output(Completions.script(for: shell))
        return .success
    }

    static let manual = Command(
        name: "manual", summary: "Print the manual page: providerhost manual | man -l -"
    ) { _, console in
        console.output(ManualPage.text())
        return .success
    }
}
