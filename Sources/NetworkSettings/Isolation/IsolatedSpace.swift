import Netlink
public import ProviderKit

/// A network namespace for one tunnel, known to `ip netns exec` by its name.
///
/// Programs inside have no other way out than the tunnel: neither rules nor marks are needed, and no network that this
/// machine is connected to can change it.
///
/// ```
/// /run/netns/NAME               the namespace
/// /etc/netns/NAME/resolv.conf   its DNS, with the marker by which a sweep knows it; locked by the process that owns it
/// ```
public final class IsolatedSpace: Sendable {
    static let root = "/run/netns"
    private static let switchPath = "/etc/nsswitch.conf"
    private static let sizeLimit = 1 << 16

    private let name: String
    private let folder: SpaceFolder
    // INVARIANT: open; closed once, in deinit.
    private let descriptor: Int32

    /// Makes the namespace with its loopback interface; what a process that was killed left of this name is replaced.
    ///
    /// - Throws: ``IsolationError``; nothing is left then.
    public init(_ name: String) throws(IsolationError) {
        self.name = name
        do throws(FileFailure) {
            let isLeft = SpaceFolder.isOurs(name)
            guard let folder = try SpaceFolder(claiming: name), isLeft || folder.isEmpty else {
                throw FileFailure(path: SpaceFolder.path(name), code: 17)
            }
            do throws(FileFailure) {
                if isLeft { try Self.unmake(name) }
                descriptor = try Self.prepare(name, folder)
            } catch {
                try? folder.remove()
                throw error
            }
            self.folder = folder
        } catch {
            throw IsolationError(error)
        }
    }

    deinit { Self.close(descriptor) }

    /// The names of all namespaces of this machine, ours or not.
    public static var names: Set<String> { Set(FolderNames.list(root) + FolderNames.list(SpaceFolder.root)) }

    /// What DNS settings of the tunnel are given to.
    public var resolver: any Resolver { SpaceResolver(path: "\(folder.path)/\(SpaceResolver.fileName)") }

    /// Runs `body` with the calling thread inside.
    public func inside<Result>(_ body: () throws -> Result) throws -> Result { try Self.enter(descriptor, body) }

    /// Runs `body` with the calling thread in the namespace of this name.
    public static func inside<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        let descriptor: Int32
        do throws(FileFailure) { descriptor = try open(name) } catch { throw IsolationError(error) }
        defer { close(descriptor) }
        return try enter(descriptor, body)
    }

    /// Removes the name and the files; programs inside stay there, without any network.
    ///
    /// - Returns: What could not be removed, as phrases.
    public func remove() -> [String] { Self.remove(name, folder) }

    /// Removes what processes that were killed have left behind.
    ///
    /// - Parameter isRehearsal: Whether nothing is removed, and the names are those of what would be.
    /// - Returns: The names, and what could not be removed, as phrases.
    public static func sweep(isRehearsal: Bool = false) -> (removed: [String], failures: [String]) {
        var removed: [String] = []
        var failures: [String] = []
        for name in FolderNames.list(SpaceFolder.root).sorted() where SpaceFolder.isOurs(name) {
            do throws(FileFailure) {
                guard let folder = try SpaceFolder(claiming: name) else { continue }
                let remains = isRehearsal ? [] : remove(name, folder)
                failures += remains
                if remains.isEmpty { removed.append(name) }
            } catch {
                failures.append(error.description)
            }
        }
        return (removed, failures)
    }

    static func path(_ name: String) -> String { "\(root)/\(name)" }

    /// Files first: from the marker on a sweep finds what there is.
    private static func prepare(_ name: String, _ folder: borrowing SpaceFolder) throws(FileFailure) -> Int32 {
        try TextFile.replace("\(folder.path)/\(SpaceResolver.fileName)", with: SpaceResolver.marker, like: nil)
        if let text = try TextFile.read(switchPath, limit: sizeLimit),
            let changed = NameServiceSwitch.withoutResolved(text)
        {
            try TextFile.replace("\(folder.path)/nsswitch.conf", with: changed, like: nil)
        }
        let descriptor = try make(name)
        do {
            try enter(descriptor) {
                let effects = try SystemEffects()
                let loopback = try effects.link(named: "lo").index
                if let error = effects.submit([.setLink(loopback, .up(true))])[0] { throw error }
            }
        } catch {
            close(descriptor)
            try unmake(name)
            throw FileFailure(path: path(name), code: 5)
        }
        return descriptor
    }

    private static func remove(_ name: String, _ folder: borrowing SpaceFolder) -> [String] {
        var failures: [String] = []
        do throws(FileFailure) { try unmake(name) } catch { failures.append(error.description) }
        do throws(FileFailure) { try folder.remove() } catch { failures.append(error.description) }
        return failures
    }
}
