import Netlink
import ProviderKit

/// The resolv.conf of a namespace, which programs inside see as /etc/resolv.conf.
///
/// All names are asked of the tunnel's servers, whatever domains the settings name: from inside no other can be reached.
struct SpaceResolver: Resolver {
    static let fileName = "resolv.conf"
    static let marker = "# This file is providerhost's while the tunnel of this namespace is up.\n"

    let path: String

    var name: String { path }

    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? { nil }

    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {
        do throws(FileFailure) {
            // In place: programs that run inside have this very file mounted.
            try TextFile.overwrite(path, with: Self.marker + (configuration.map(ResolverFile.lines) ?? ""))
        } catch {
            throw ResolverError(attempt: "write \(path)", reason: error.description)
        }
    }

    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] { [] }
}
