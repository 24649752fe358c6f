internal import Foundation
public import ProviderKit

/// The bundles that are installed, and those that are refused, each with its reason.
///
/// A bundle is `X.bundle` in a search folder, or in the resources that SwiftPM puts there
/// (`Package_Target.resources/X.bundle`, `Package_Target.resources/Bundles/X.bundle`), whose library is in the search
/// folder itself.
public struct BundleIndex: Sendable, Equatable {
    /// The bundles that may be used, by identifier.
    public let bundles: [ProviderBundle]
    /// What was found and is not used, by path.
    public let refused: [RefusedBundle]
    /// The folders that were searched.
    public let folders: [String]

    /// Searches the folders and checks what is there.
    ///
    /// - Parameters:
    ///   - path: The folders.
    ///   - caller: The user whose files are trusted beside root's; nil for the effective user.
    public init(searching path: BundleSearchPath = .current, caller: UInt32? = nil) {
        let caller = caller ?? geteuid()
        var seen: Set<OpenFile.Identity> = []
        var found: [ProviderBundle] = []
        var refused: [RefusedBundle] = []
        for (folder, isRequested) in path.ordered {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                if isRequested { refused.append(Self.unreadableFolder(folder)) }
                continue
            }
            for candidate in Self.candidates(in: folder, names: names.sorted()) {
                // Two search folders may be one: the same bundle is no duplicate of itself.
                if let identity = try? OpenFile.location(candidate.path).identity, !seen.insert(identity).inserted {
                    continue
                }
                do throws(RefusedBundle) {
                    found.append(
                        try ProviderBundle.load(
                            at: candidate.path, buildFolder: candidate.isResource ? folder : nil, caller: caller))
                } catch {
                    refused.append(error)
                }
            }
        }
        let duplicates = Self.duplicates(in: found)
        bundles = found.filter { bundle in !duplicates.contains { $0.path == bundle.path } }
            .sorted { $0.manifest.identifier < $1.manifest.identifier }
        self.refused = (refused + duplicates).sorted { $0.path < $1.path }
        folders = path.ordered.map(\.path)
    }

    /// Finds a bundle by its identifier.
    ///
    /// - Throws: The reason when the bundle is there but refused; ``BundleErrorCode/unknownIdentifier`` with the closest
    ///   installed ones when it is not there.
    public func bundle(_ identifier: String) throws(BundleError) -> ProviderBundle {
        if let bundle = bundles.first(where: { $0.manifest.identifier == identifier }) { return bundle }
        if let refusal = refused.first(where: { $0.identifier == identifier }) { throw refusal.error }
        let cause = "No bundle `\(identifier.printable)` is installed."
        guard !bundles.isEmpty else {
            throw BundleError(
                .unknownIdentifier, cause: cause,
                remedy: "No usable bundle was found in \(folders.joined(separator: ", ")); "
                    + "build or install one, or name its folder in \(BundleSearchPath.environmentKey).")
        }
        let closest = Suggestion.closest(to: identifier, in: bundles.map(\.manifest.identifier), limit: 3)
        throw BundleError(
            .unknownIdentifier, cause: cause, remedy: "The closest installed: \(closest.joined(separator: ", ")).")
    }

    /// The folders in `folder` that look like bundles.
    private static func candidates(in folder: String, names: [String]) -> [(path: String, isResource: Bool)] {
        names.flatMap { name -> [(path: String, isResource: Bool)] in
            let path = folder + "/" + name
            if name.hasSuffix(".bundle") { return [(path, false)] }
            guard name.hasSuffix(".resources") else { return [] }
            return [path, path + "/Bundles"].flatMap { place in
                ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted()
                    .filter { $0.hasSuffix(".bundle") }.map { (place + "/" + $0, true) }
            }
        }
    }

    /// Refusals for all the bundles whose identifier another one has as well: none of them is the right one.
    private static func duplicates(in found: [ProviderBundle]) -> [RefusedBundle] {
        Dictionary(grouping: found, by: \.manifest.identifier).values.filter { $0.count > 1 }.flatMap { group in
            let paths = group.map(\.path).sorted()
            return group.map { bundle in
                RefusedBundle(
                    path: bundle.path, identifier: bundle.manifest.identifier,
                    error: BundleError(
                        .duplicateIdentifier,
                        cause: "\(bundle.manifest.identifier) is in \(paths.joined(separator: " and in ")).",
                        remedy: "Remove all of them but one."))
            }
        }
    }

    private static func unreadableFolder(_ folder: String) -> RefusedBundle {
        RefusedBundle(
            path: folder, identifier: nil,
            error: BundleError(
                .unreadable,
                cause: "The folder \(folder.printable) of \(BundleSearchPath.environmentKey) cannot be read.",
                remedy: "Check that it exists and is readable, or remove it from the variable."))
    }
}
