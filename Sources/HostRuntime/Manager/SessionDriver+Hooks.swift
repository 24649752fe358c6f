internal import ProviderKit
internal import Session

/// A command of the configuration that runs.
struct RunningHook {
    /// The worker that wants it, and what that worker calls it.
    let generation: UInt64
    let id: UInt64
    let command: String
    let process: ChildProcess
    let token: UInt64
}

/// The commands of a configuration (`PreUp` and its like), run with the manager's rights where its user allowed that.
extension SessionDriver {
    /// So many commands may run at once.
    private static let limit = 16

    func runHook(_ id: UInt64, _ command: String) {
        let isAllowed =
            configuration.protocolConfiguration.providerConfiguration[TunnelProviderProtocol.allowHooksKey]?
            .booleanValue ?? false
        guard isAllowed else { return complete(id, HookError(.notAllowed)) }
        guard hooks.count < Self.limit else { return complete(id, HookError(.tooMany)) }
        guard !command.utf8.contains(0) else {
            return complete(id, HookError(.failed, cause: "A command of the configuration has a zero byte in it."))
        }
        do {
            let process = try ChildProcess(shell: command)
            let key = takeID()
            let token = token(for: .hook(key))
            try poller.watch(process.exitDescriptor, token: token)
            hooks[key] = RunningHook(
                generation: generation, id: id, command: command, process: process, token: token)
        } catch {
            complete(id, HookError(.failed, cause: error.cause, remedy: error.remedy))
        }
    }

    func collectHook(_ key: UInt64) {
        guard let hook = hooks[key], let how = hook.process.collect() else { return }
        hooks[key] = nil
        poller.forget(hook.process.exitDescriptor)
        release(token: hook.token)
        guard hook.generation == generation else { return }
        guard how != .exited(0) else { return complete(hook.id, nil) }
        complete(hook.id, HookError(.failed, cause: "The command `\(hook.command)` failed (\(how))."))
    }

    private func complete(_ id: UInt64, _ error: HookError?) {
        send(.hookCompleted(id: id, error.map { TunnelFailure($0) }))
    }
}

/// The codes of ``HookError``.
enum HookErrorCode: Int, TunnelErrorCode {
    case notAllowed = 1
    case failed = 2
    case tooMany = 3

    static var domain: String { "ProviderHostHookErrorDomain" }

    var cause: String {
        switch self {
        case .notAllowed: "The configuration wants to run a command, which is not allowed."
        case .failed: "A command of the configuration failed."
        case .tooMany: "Too many commands of the configuration run at once."
        }
    }

    var remedy: String {
        switch self {
        case .notAllowed: "Read the command, and allow it with --allow-hooks if you want it to run as root."
        case .failed: "Run it by hand to see why."
        case .tooMany: "Run them one after the other."
        }
    }
}

/// Why a command of the configuration did not run to success.
typealias HookError = CodedError<HookErrorCode>
