public import ProviderKit

/// The folder that the store lives in.
public struct StateFolder: Hashable, Sendable {
    /// The absolute path, without a slash at its end.
    public let path: String

    /// Takes any folder.
    public init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Finds the folder: `PROVIDERHOST_STATE_DIR`, else the service manager's `STATE_DIRECTORY`, else the usual place.
    public init(environment: [String: String]) {
        let named = environment["PROVIDERHOST_STATE_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        // The service manager separates several folders by colons.
        let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        self.init(path: named ?? given ?? "/var/lib/providerhost")
    }

    /// The database.
    public var database: String { path + "/store.sqlite" }

    /// The key that makes the keychain readable on this machine only.
    var deviceKey: String { path + "/device.key" }

    /// The file whose lock keeps two processes from opening or setting aside at the same time.
    var lock: String { path + "/store.lock" }

    /// Makes the folder of a bundle's providers, `providers/<bundle identifier>`, with those above it.
    ///
    /// - Returns: Its path.
    /// - Throws: ``StoreError`` for a folder that others could write, and for an identifier that names no folder.
    public func prepareProviderFolder(_ bundleIdentifier: String) throws(StoreError) -> String {
        guard !bundleIdentifier.isEmpty, !bundleIdentifier.hasPrefix("."), !bundleIdentifier.utf8.contains(0x2f) else {
            throw StoreError(.folderUnusable, cause: "A bundle identifier cannot begin with a dot or have a slash.")
        }
        try prepare()
        let providers = StateFolder(path: path + "/providers")
        try providers.prepare()
        let folder = StateFolder(path: providers.path + "/" + bundleIdentifier)
        try folder.prepare()
        return folder.path
    }

    /// Makes the folder where it is missing, for its owner alone.
    ///
    /// - Throws: ``StoreError`` for a folder that others could write.
    func prepare() throws(StoreError) {
        let status: FolderStatus
        do throws(SystemFailure) {
            status = try FolderStatus.creating(path)
        } catch {
            throw StoreError(.folderUnusable, cause: "The folder \(path) cannot be used: \(error.reason).")
        }
        try check(status)
        guard status.permissions == 0o700 || status.restrict(path) else {
            throw StoreError(.folderUnusable, cause: "The permissions of \(path) could not be set to 0700.")
        }
    }

    /// Refuses a folder that others could write.
    func check(_ status: FolderStatus) throws(StoreError) {
        guard status.isFolder else {
            throw StoreError(.folderUnusable, cause: "\(path) is no folder.")
        }
        guard status.isOwnedByUs else {
            throw StoreError(
                .folderUnusable, cause: "The folder \(path) belongs to user \(status.owner).",
                remedy: "Run as that user, or name another folder with PROVIDERHOST_STATE_DIR.")
        }
        guard status.permissions & 0o022 == 0 else {
            throw StoreError(
                .folderUnusable, cause: "Others may write the folder \(path).",
                remedy: "See what they put there, then take the permission away: chmod 700 \(path)")
        }
    }
}
