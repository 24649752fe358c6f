private import CTun
public import ProviderKit

/// What a worker gives up before it loads a module: capabilities, new privileges, core dumps, being traced.
///
/// The user stays as it is. Landlock and seccomp have their place at the end of `ctun_sandbox_enter`.
enum Sandbox {
    /// Drops the privileges of this process and looks whether they are gone.
    ///
    /// - Throws: ``SandboxError``; the worker must not load a module then.
    static func enter() throws(SandboxError) {
        // capset changes the calling thread only, so a second thread would keep its capabilities.
        let threads = ctun_thread_count()
        guard threads == 1 else { throw .severalThreads(Int(threads)) }
        var step = CTUN_SANDBOX_DONE
        var result = unsafe ctun_sandbox_enter(&step)
        if result < 0 { throw .failed(step: name(step), errno: -result) }
        result = unsafe ctun_sandbox_verify(&step)
        if result < 0 { throw .notInForce(step: name(step)) }
    }

    /// Leaves the signals of the process group to the manager, which stops the worker through the channel.
    static func ignoreGroupSignals() { ctun_ignore_group_signals() }

    private static func name(_ step: ctun_sandbox_step) -> String {
        switch step {
        case CTUN_SANDBOX_NO_NEW_PRIVILEGES: "no_new_privs"
        case CTUN_SANDBOX_AMBIENT: "the ambient set"
        case CTUN_SANDBOX_BOUNDING: "the bounding set"
        case CTUN_SANDBOX_SECUREBITS: "the securebits"
        case CTUN_SANDBOX_CAPABILITIES: "the capability sets"
        case CTUN_SANDBOX_CORE: "the limit of core dumps"
        case CTUN_SANDBOX_DUMPABLE: "the dumpable flag"
        default: "step \(step.rawValue)"
        }
    }
}

/// Why a worker could not give up its privileges.
public enum SandboxError: TunnelError, Equatable {
    /// The process has more than one thread (or the number is -errno).
    case severalThreads(Int)
    /// A step failed.
    case failed(step: String, errno: Int32)
    /// A step succeeded without effect.
    case notInForce(step: String)

    public var errorDomain: String { VPNConnectionErrorCode.domain }
    public var errorCode: Int { VPNConnectionErrorCode.pluginFailed.rawValue }

    public var cause: String {
        switch self {
        case .severalThreads(let count): "The worker has \(count) threads where it must have one."
        case .failed(let step, let number):
            "The worker could not set \(step): \(ChannelSystem.text(of: number))."
        case .notInForce(let step): "The worker set \(step) without effect."
        }
    }

    public var remedy: String {
        "No module was loaded; check the kernel and the container's system call filter."
    }
}
