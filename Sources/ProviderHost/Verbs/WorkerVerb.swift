internal import Glibc
internal import HostRuntime
internal import ProviderKit

/// `worker`: the process of one session, started by the manager and by nobody else.
enum WorkerVerb {
    static let command = Command(
        name: "worker", summary: "Serve one session for a manager.",
        options: [
            .init(
                name: "channel-fd", value: "N", summary: "The descriptor of the channel to the manager.",
                isRequired: true)
        ],
        isHidden: true
    ) { arguments, _ in
        exit(WorkerMain.run(channel: try channel(arguments)))
    }

    /// The descriptor that the manager passed on.
    ///
    /// - Throws: ``UsageError`` for what is no descriptor; 0 to 2 are the standard streams.
    static func channel(_ arguments: Arguments) throws(UsageError) -> Int32 {
        let text = arguments.values["channel-fd"] ?? ""
        guard let descriptor = Int32(text), descriptor > 2 else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no descriptor of a channel.",
                remedy: "Start tunnels with `\(CommandLineTool.name) run`; the verb is for its use.")
        }
        return descriptor
    }
}
