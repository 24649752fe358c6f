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
        try enter(arguments)
    }

    /// Enters the worker; the arguments are parsed without any library that starts threads.
    static func enter(_ arguments: [String]) -> Never {
        exit(0)
    }
}
