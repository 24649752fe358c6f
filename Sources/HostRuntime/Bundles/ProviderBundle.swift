internal import Glibc
public import ProviderKit

/// An installed bundle that passed every check: a folder with `Info.plist` and the library of a provider.
public struct ProviderBundle: Sendable, Equatable {
    /// What its `Info.plist` says.
    public let manifest: BundleManifest
    /// The path of the bundle folder.
    public let path: String
    /// The path of the library, which only a worker opens.
    public let executablePath: String

    /// Reads and checks one bundle.
    ///
    /// - Parameters:
    ///   - path: The folder `X.bundle`.
    ///   - buildFolder: Where SwiftPM puts the library of a bundle that is a resource of its target; nil otherwise.
    ///   - caller: The user whose files are trusted beside root's.
    /// - Returns: The bundle.
    /// - Throws: ``RefusedBundle`` with the first check that failed.
    static func load(
        at path: String, buildFolder: String?, caller: UInt32
    ) throws(RefusedBundle) -> ProviderBundle {
        let checker = BundleChecker(caller: caller)
        let manifest: BundleManifest
        do {
            manifest = try checker.manifest(ofBundle: path)
        } catch {
            throw RefusedBundle(path: path, identifier: nil, error: error)
        }
        do {
            let executable = try checker.executable(
                named: manifest.executableName, bundle: path, buildFolder: buildFolder)
            return ProviderBundle(manifest: manifest, path: path, executablePath: executable)
        } catch {
            throw RefusedBundle(path: path, identifier: manifest.identifier, error: error)
        }
    }
}

/// A bundle that is not used, and why.
public struct RefusedBundle: Error, Sendable, Equatable {
    /// The path of the bundle folder, or of a search folder that cannot be read.
    public let path: String
    /// Its identifier, where `Info.plist` could be read.
    public let identifier: String?
    /// The check that failed.
    public let error: BundleError
}

/// The checks of the files of a bundle: kind, owner, mode.
struct BundleChecker {
    /// The user whose files are trusted beside root's.
    let caller: UInt32

    /// Reads `Info.plist` at the top of the bundle or in `Contents`.
    func manifest(ofBundle path: String) throws(BundleError) -> BundleManifest {
        let bundle = try folder(path)
        if let manifest = try manifest(in: bundle, at: path) { return manifest }
        let contents = path + "/Contents"
        let opened = try existing(contents) { () throws(OpenFile.Failure) in try OpenFile.location(contents) }
        if let inner = opened {
            try check(inner, at: contents, is: .folder)
            if let manifest = try manifest(in: inner, at: contents) { return manifest }
        }
        throw BundleError(.manifestMissing, cause: "\(path) has no Info.plist.")
    }

    private func manifest(in folder: borrowing OpenFile, at path: String) throws(BundleError) -> BundleManifest? {
        let path = path + "/Info.plist"
        let descriptor = folder.descriptor
        let opened = try existing(path) { () throws(OpenFile.Failure) in
            try OpenFile.file("Info.plist", in: descriptor, followingLinks: false)
        }
        guard let file = opened else { return nil }
        try check(file, at: path, is: .file)
        let bytes: [UInt8]?
        do { bytes = try file.read(atMost: BundleManifest.maximumBytes) } catch { throw unreadable(path, error) }
        guard let bytes else {
            throw BundleError(
                .manifestTooLarge, cause: "\(path) has \(file.size) bytes, more than \(BundleManifest.maximumBytes).")
        }
        do {
            return try BundleManifest(parsing: bytes)
        } catch {
            throw BundleError(error.code, cause: "\(path): \(error.cause)", remedy: error.remedy)
        }
    }

    /// Finds and checks the library: in the bundle, in `Contents/Linux`, in the build folder.
    func executable(named name: String, bundle: String, buildFolder: String?) throws(BundleError) -> String {
        for place in [bundle, bundle + "/Contents/Linux", buildFolder].compactMap(\.self) {
            let path = place + "/" + name
            let opened = try existing(path) { () throws(OpenFile.Failure) in
                try OpenFile.file(path, followingLinks: false)
            }
            guard let file = opened else { continue }
            try check(file, at: path, is: .file)
            _ = try folder(place, followingLinks: place == buildFolder)
            return path
        }
        throw BundleError(.executableMissing, cause: "The library \(name) of \(bundle) is missing.")
    }

    /// Opens and checks a folder; what stands in it may be trusted only when nobody else may exchange it.
    private func folder(_ path: String, followingLinks: Bool = false) throws(BundleError) -> OpenFile {
        let folder: OpenFile
        do {
            folder =
                followingLinks ? try OpenFile.file(path, followingLinks: true) : try OpenFile.location(path)
        } catch { throw unreadable(path, error) }
        try check(folder, at: path, is: .folder)
        return folder
    }

    private func check(_ file: borrowing OpenFile, at path: String, is kind: OpenFile.Kind) throws(BundleError) {
        if file.kind == .symbolicLink { throw symbolicLink(path) }
        guard file.kind == kind else {
            if kind == .folder { throw BundleError(.notFolder, cause: "\(path) is no folder.") }
            throw BundleError(.notRegularFile, cause: "\(path) is no regular file.")
        }
        guard file.owner == 0 || file.owner == caller else {
            throw BundleError(
                .ownerNotTrusted,
                cause: "\(path) belongs to user \(file.owner), to neither root nor the caller (user \(caller)).",
                remedy: "Change its owner: chown \(caller) \(path)")
        }
        guard file.permissions & 0o022 == 0 else {
            throw BundleError(
                .writableByOthers,
                cause: "\(path) has mode 0\(String(file.permissions, radix: 8)), so others may write it.",
                remedy: "Take the permission away: chmod go-w \(path)")
        }
    }

    /// Opens a file that may be absent, and names what is wrong with one that cannot be opened.
    private func existing(
        _ path: String, open: () throws(OpenFile.Failure) -> OpenFile
    ) throws(BundleError) -> OpenFile? {
        do {
            return try open()
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: return nil
            case ELOOP: throw symbolicLink(path)
            // What `open` answers for a socket and for a device without a driver.
            case ENXIO, ENODEV: throw BundleError(.notRegularFile, cause: "\(path) is no regular file.")
            default: throw unreadable(path, error)
            }
        }
    }

    private func symbolicLink(_ path: String) -> BundleError {
        BundleError(.symbolicLink, cause: "\(path) is a symbolic link.")
    }

    private func unreadable(_ path: String, _ failure: OpenFile.Failure) -> BundleError {
        BundleError(.unreadable, cause: "\(path) cannot be read: \(failure.reason).")
    }
}
