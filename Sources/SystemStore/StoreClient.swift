/// Who asks: the owner of configurations and keychain items.
public struct StoreClient: Hashable, Sendable, Codable {
    /// The user.
    public let user: UInt32
    /// The application.
    public let application: String
    /// The access groups whose keychain items it may use, in the order of its entitlement.
    ///
    /// The application's own group, which has its identifier as its name, is always the last one.
    public let accessGroups: [String]

    /// Names a client.
    public init(user: UInt32, application: String, accessGroups: [String] = []) {
        self.user = user
        self.application = application
        self.accessGroups = accessGroups.filter { $0 != application } + [application]
    }
}
