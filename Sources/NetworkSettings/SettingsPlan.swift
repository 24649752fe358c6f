import Netlink

/// The steps from what is applied to what is wanted, each with its way back; a pure value.
struct SettingsPlan: Equatable {
    /// One change and what undoes it; an entry without a request acts on the way back only.
    struct Move: Equatable {
        var request: Request?
        var inverse: Request?
    }

    /// What a step does; a batch goes to the kernel in one piece.
    enum Action: Equatable {
        case batch([Move])
        case sysctl(name: String, from: String, to: String)
        case resolver(from: ResolverConfiguration?, to: ResolverConfiguration?)
        case filter(from: [FilterTable], to: [FilterTable])
    }

    struct Step: Equatable {
        /// What the step is for, as a phrase in errors.
        var purpose: String
        var action: Action
    }

    var steps: [Step] = []
    /// What is ours when all steps are done.
    var result: AppliedState
}

/// What of the system's state is ours, and what it was before.
struct AppliedState: Equatable {
    /// The properties of the link before we touched it.
    struct Original: Equatable {
        var mtu: Int
        var isUp: Bool
        var addressGeneration: Link.AddressGeneration?
    }

    /// A kernel setting that we changed.
    struct Sysctl: Equatable {
        var name: String
        var original: String
        var ours: String
    }

    var original: Original?
    var mtu: Int?
    var addresses: [InterfaceAddress] = []
    var routes: [Route] = []
    var rules: [Rule] = []
    /// The table of the slot that is in use: 0 or 1.
    var side = 0
    var sysctls: [Sysctl] = []
    var resolver: ResolverConfiguration?
    /// The tables of the kill switch and of the marks of replies.
    var filter: [FilterTable] = []
}

/// What the system looks like before a plan is made.
struct Observation {
    var link: Link
    var addresses: [InterfaceAddress]
    var rules: [Rule]
    /// Routes in the slot's tables that are not in the applied state: left by a crash.
    var leftovers: [Route]
    /// The values of the kernel settings that we may change; a missing one does not exist here.
    var sysctls: [String: String]
}
