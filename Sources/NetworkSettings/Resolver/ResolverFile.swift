import Glibc
import Netlink
import ProviderKit

/// /etc/resolv.conf written by us while tunnels are up, where no program manages it.
///
/// The earlier file becomes `resolv.conf.providerhost` by a hard link and comes back by a rename, so it returns with its
/// content, mode and owner, also when it was a symbolic link. A file that is a mount of its own (in a container) can only
/// be rewritten in place. A process that finds our file without its interface restores it: that is the sweep.
struct ResolverFile: Resolver {
    private static let sizeLimit = 1 << 16

    /// The file, in a folder that we may write to.
    var path = "/etc/resolv.conf"

    var name: String { path }
    /// What was there before our file.
    var backup: String { path + ".providerhost" }
    private var folder: Folder { Folder(path: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])) }

    /// Whether a process that was killed has left files beside this one.
    var isUnfinished: Bool { [backup, TextFile.fresh(backup), TextFile.fresh(path)].contains { TextFile.exists($0) } }

    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? {
        configuration.isDefault ? nil : .splitDNS(by: name)
    }

    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {
        try change("write \(path)") { (contents) throws(FileFailure) in
            contents.removeAll { $0.interface == link.name }
            guard let configuration else { return }
            contents.insert(Contents.Section(interface: link.name, configuration: configuration), at: 0)
        }
    }

    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] {
        var swept: [String] = []
        try change("restore \(path)") { (sections) throws(FileFailure) in
            swept = sections.map(\.interface).filter(isStale)
            sections.removeAll { swept.contains($0.interface) }
        }
        return swept
    }

    /// The lines of one interface for a resolver library.
    static func lines(_ configuration: ResolverConfiguration) -> String {
        var lines = configuration.servers.map { "nameserver \($0)\n" }
        let search = configuration.searchDomains.map(\.description)
        if !search.isEmpty { lines.append("search \(search.joined(separator: " "))\n") }
        return lines.joined()
    }

    private func change(
        _ attempt: String, _ body: (inout [Contents.Section]) throws(FileFailure) -> Void
    ) throws(ResolverError) {
        do throws(FileFailure) {
            // One tunnel at a time, whichever process it belongs to.
            try folder.locked { () throws(FileFailure) in try changeLocked(body) }
        } catch {
            throw ResolverError(attempt: attempt, reason: error.description)
        }
    }

    private func changeLocked(_ body: (inout [Contents.Section]) throws(FileFailure) -> Void) throws(FileFailure) {
        try recover()
        let text = try TextFile.read(path, limit: Self.sizeLimit)
        let ours = text.flatMap { Contents($0) }
        var sections = ours?.sections ?? []
        try body(&sections)
        guard sections != ours?.sections ?? [] else { return }
        if sections.isEmpty { return try restore(hasBackup: ours?.hasBackup ?? false) }
        let hasBackup = if let ours { ours.hasBackup } else { try keep() }
        try TextFile.replace(
            path, with: Contents(sections: sections, hasBackup: hasBackup).text, like: hasBackup ? backup : nil)
    }

    /// Ends what a process began that was killed between the steps of a change, and takes away a backup that has had its
    /// day because somebody else has written the file since.
    private func recover() throws(FileFailure) {
        for unfinished in [path, backup] { try TextFile.remove(TextFile.fresh(unfinished)) }
        guard TextFile.exists(backup) else { return }
        let text = try TextFile.read(path, limit: Self.sizeLimit)
        // A file that is written over in its place is empty for a moment.
        if text == "" || !TextFile.exists(path) { return try restore(hasBackup: true) }
        if text.flatMap({ Contents($0) }) == nil { try TextFile.remove(backup) }
    }

    /// Keeps the file that is there; false if there is none.
    private func keep() throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            try TextFile.link(path, as: backup)
        } catch {
            guard error.code != ENOENT else { return false }
            guard let text = try TextFile.read(path, limit: Self.sizeLimit) else { return false }
            try TextFile.replace(backup, with: text, like: path)
        }
        return true
    }

    private func restore(hasBackup: Bool) throws(FileFailure) {
        guard hasBackup else { return try TextFile.remove(path) }
        do throws(FileFailure) {
            try TextFile.rename(backup, to: path)
        } catch {
            guard error.code == EBUSY, let text = try TextFile.read(backup, limit: Self.sizeLimit) else { throw error }
            try TextFile.overwrite(path, with: text)
        }
        // Of two names of one file neither goes by a rename.
        try TextFile.remove(backup)
    }
}
