import Netlink
import ProviderKit

/// The program `resolvconf`, of openresolv or of Debian: it makes /etc/resolv.conf out of what each interface reports.
struct ResolvconfProgram: Resolver {
    private static let timeout: Int32 = 5000

    let program: SystemProgram

    var name: String { "resolvconf" }

    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? {
        configuration.isDefault ? nil : .splitDNS(by: name)
    }

    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {
        // -f: a record that is not there is no fault.
        guard let configuration else { return try run(["-d", Self.record(link.name), "-f"]) }
        // Metric 0 is ahead of every other interface; -x makes openresolv leave out the servers of the others.
        try run(["-a", Self.record(link.name), "-m", "0", "-x"], input: ResolverFile.lines(configuration))
    }

    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] {
        let listed = program.run(["-i"], input: "", milliseconds: Self.timeout).output
        var swept: [String] = []
        for record in listed.split(whereSeparator: \.isWhitespace) where record.hasPrefix(Self.prefix) {
            let interface = String(record.dropFirst(Self.prefix.count))
            guard isStale(interface) else { continue }
            try run(["-d", String(record), "-f"])
            swept.append(interface)
        }
        return swept
    }

    private static let prefix = "tun."

    /// The name of an interface's record: what begins with `tun.` comes first in Debian's interface-order.
    private static func record(_ interface: String) -> String { prefix + interface }

    /// The interface of a record: of ours without what comes before it.
    static func interface(ofRecord name: String) -> String {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }

    private func run(_ arguments: [String], input: String = "") throws(ResolverError) {
        let outcome = program.run(arguments, input: input, milliseconds: Self.timeout)
        guard let failure = outcome.failure else { return }
        throw ResolverError(attempt: "\(program.path) \(arguments.joined(separator: " "))", reason: failure)
    }
}
