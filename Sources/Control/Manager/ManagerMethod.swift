/// The methods of the manager: the one table that server, client, interface description and tests read.
///
/// A method that is not in it does not exist, and none can be in it without a permission.
public enum ManagerMethod: String, Sendable, CaseIterable {
    case list = "List"
    case get = "Get"
    case save = "Save"
    case remove = "Remove"
    case start = "Start"
    case stop = "Stop"
    case watch = "Watch"
    case sendMessage = "SendMessage"
    case fetchLastDisconnectError = "FetchLastDisconnectError"
    case counters = "Counters"
    case log = "Log"
    case explain = "Explain"
    case evaluateConnection = "EvaluateConnection"
    case addItem = "AddItem"
    case copyMatching = "CopyMatching"
    case updateItems = "UpdateItems"
    case deleteItems = "DeleteItems"
    case unlockKeychain = "UnlockKeychain"
    case lockKeychain = "LockKeychain"
    case changeKeychainPassphrase = "ChangeKeychainPassphrase"

    /// The interface that all of them belong to.
    public static let interface = "org.providerhost.manager"

    /// The method as a call names it.
    public var qualifiedName: String { Self.interface + "." + rawValue }

    /// What the permission is needed for.
    public enum Subject: Sendable {
        /// The configuration that the parameter `identifier` names.
        case configuration
        /// Everything; who owns configurations has the permission for what is its own, and sees that alone.
        case everything
        /// What belongs to the machine and to no owner.
        case machine
    }

    /// A parameter or a part of a reply, with its type as Varlink writes it.
    public struct Field: Sendable, Equatable {
        public let name: String
        public let type: String
    }

    /// A row of the table.
    public struct Row: Sendable {
        /// What a caller needs.
        public let permission: Permission
        /// For what.
        public let subject: Subject
        public let parameters: [Field]
        public let reply: [Field]
        /// Whether a call with `more` gets a reply for every change from then on.
        public let streams: Bool
        /// What it does, for the interface description.
        public let summary: String
    }

    /// A query, and whose items it means: those of the caller and of a tool where that is left out.
    private static let keychainQuery: KeyValuePairs<String, String> = [
        "application": "?string", "owner": "?int", "query": "object",
    ]

    /// The row of this method.
    public var row: Row {
        switch self {
        case .list:
            Row(
                .read, of: .everything, ["application": "?string"],
                ["configurations": "[]Configuration", "sessions": "[]Session"],
                "Lists configurations, those of one application where one is named.")
        case .get:
            Row(
                .read, of: .configuration, ["identifier": "string"],
                ["configuration": "Configuration", "session": "Session"],
                "Gives one configuration and its session.")
        case .save:
            Row(
                .administer, of: .configuration, ["configuration": "Configuration", "secrets": "?[]NewSecret"],
                ["generation": "int", "warnings": "[]string"],
                """
                Saves a configuration: a new one with generation 0, else a change of the generation that it names.
                Secrets are put into the keychain in the same step; the configuration refers to them by account.
                """)
        case .remove:
            Row(
                .administer, of: .configuration, ["identifier": "string", "generation": "?int"], [:],
                "Removes a configuration, and stops its session.")
        case .start:
            Row(
                .operate, of: .configuration, ["identifier": "string", "generation": "?int", "options": "?object"],
                [:],
                "Starts a session. The reply says that the start is accepted, not that the tunnel is up.")
        case .stop:
            Row(
                .operate, of: .configuration, ["identifier": "string"], [:],
                "Stops a session; no more than a note when there is none.")
        case .watch:
            Row(
                .read, of: .everything, ["application": "?string"],
                ["sessions": "[]Session", "changed": "[]string"],
                """
                Gives every session, and with `more` from then on those whose status changed, and the identifiers of
                configurations that were saved or removed.
                """,
                streams: true)
        case .sendMessage:
            Row(
                .operate, of: .configuration, ["identifier": "string", "message": "string"], ["reply": "?string"],
                "Sends a message (base64, at most 1 MiB) to the provider; no reply means that it gave none.")
        case .fetchLastDisconnectError:
            Row(
                .read, of: .configuration, ["identifier": "string"], ["error": "?Failure"],
                "Gives the error of the last disconnect.")
        case .counters:
            Row(
                .read, of: .configuration, ["identifier": "string"], ["counters": "Counters"],
                "Gives the counters of the interface: estimates of inner traffic, from zero with every new `epoch`.")
        case .log:
            Row(
                .read, of: .configuration, ["identifier": "string"], ["lines": "[]LogLine"],
                "Gives the last lines of the log, and with `more` those that follow.", streams: true)
        case .explain:
            Row(
                .read, of: .configuration, ["identifier": "string"], ["onDemand": "OnDemand"],
                "Tells what the on-demand rules came to, when, and in what network.")
        case .evaluateConnection:
            Row(
                .operate, of: .configuration, ["identifier": "string", "host": "string"],
                ["isNeeded": "bool", "reason": "string"],
                """
                Finds out by the on-demand rules whether a connection to a host needs the tunnel, and starts it then; takes up
                to some seconds.
                """)
        case .addItem:
            Row(
                .administer, of: .everything, Self.keychainQuery, ["items": "[]Item"],
                "Adds an item to the keychain (SecItemAdd), with the Security framework's keys.")
        case .copyMatching:
            Row(
                .administer, of: .everything, Self.keychainQuery, ["items": "[]Item"],
                "Finds items of the keychain (SecItemCopyMatching).")
        case .updateItems:
            Row(
                .administer, of: .everything,
                ["application": "?string", "owner": "?int", "query": "object", "attributes": "object"],
                [:],
                "Changes items of the keychain (SecItemUpdate).")
        case .deleteItems:
            Row(
                .administer, of: .everything, Self.keychainQuery, [:],
                "Deletes items of the keychain (SecItemDelete).")
        case .unlockKeychain:
            Row(
                .administer, of: .machine, ["passphrase": "?string"], [:],
                "Opens the keychain, items that are readable while it is unlocked included.")
        case .lockKeychain:
            Row(
                .administer, of: .machine, [:], [:],
                "Closes the keychain; items that are readable after the first unlock stay readable.")
        case .changeKeychainPassphrase:
            Row(
                .administer, of: .machine, ["old": "?string", "new": "?string"], [:],
                "Sets, changes or takes away the passphrase of the keychain.")
        }
    }
}

extension ManagerMethod.Row {
    fileprivate init(
        _ permission: Permission, of subject: ManagerMethod.Subject,
        _ parameters: KeyValuePairs<String, String>, _ reply: KeyValuePairs<String, String>,
        _ summary: String, streams: Bool = false
    ) {
        self.permission = permission
        self.subject = subject
        self.parameters = parameters.map { ManagerMethod.Field(name: $0.key, type: $0.value) }
        self.reply = reply.map { ManagerMethod.Field(name: $0.key, type: $0.value) }
        self.streams = streams
        self.summary = summary
    }
}
