internal import HostRuntime
internal import ProviderKit

/// The program: from arguments to an exit code.
enum CommandLineTool {
    /// The name of the program.
    static let name = "providerhost"
    /// The version of the program.
    static let version = "0.1"

    /// Runs the verb that the arguments name.
    ///
    /// - Parameters:
    ///   - arguments: Those after the program's name.
    ///   - program: The name that the program was called by.
    ///   - console: Where it writes.
    /// - Returns: The exit status.
    static func main(_ arguments: [String], program: String = name, console: Console = .standard) -> ExitCode {
        let arguments = WireGuardVerb.rewritten(arguments, program: program)
        do {
            let parsed = try ArgumentParser.parse(HelpVerb.rewritten(arguments))
            return try parsed.command.run(parsed, console)
        } catch {
            let failure = TunnelFailure(error)
            console.report(failure, asJSON: ArgumentParser.wantsJSON(arguments))
            return ExitCode(for: failure)
        }
    }
}
