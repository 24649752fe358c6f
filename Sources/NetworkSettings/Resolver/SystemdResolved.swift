import Glibc
import Netlink
import ProviderKit
import Synchronization

/// systemd-resolved, told over D-Bus (org.freedesktop.resolve1): it forgets an interface when that goes.
final class SystemdResolved: Resolver {
    /// How long one set of calls may take.
    private static let patience: UInt64 = 3000
    private static let service = "org.freedesktop.resolve1"
    private static let missingLink = "org.freedesktop.resolve1.NoSuchLink"

    private struct State: ~Copyable {
        /// Nil once the bus was lost: the next call connects again.
        var bus: SystemBus?
    }

    private let state: Mutex<State>

    /// Connects to the service, which is started if it is not running but can be.
    init() throws(ResolverError) {
        do throws(BusFailure) {
            state = Mutex(State(bus: try Self.connect(until: BusDeadline(milliseconds: Self.patience))))
        } catch {
            throw ResolverError(attempt: "reach systemd-resolved", reason: error.message)
        }
    }

    var name: String { "systemd-resolved" }

    func limitation(_ configuration: ResolverConfiguration) -> SettingsShortfall? { nil }

    func set(_ configuration: ResolverConfiguration?, on link: Link) throws(ResolverError) {
        let calls = Self.calls(configuration, link: Int32(bitPattern: link.index))
        try state.withLock { (state) throws(ResolverError) in
            let deadline = BusDeadline(milliseconds: Self.patience)
            var attempt = "reach systemd-resolved"
            do throws(BusFailure) {
                let bus = if let bus = state.bus.take() { bus } else { try Self.connect(until: deadline) }
                for (member, arguments) in calls {
                    attempt = "\(member) of systemd-resolved"
                    try Self.call(bus, member, arguments, isRemoval: configuration == nil, deadline)
                }
                state.bus = consume bus
            } catch {
                throw ResolverError(attempt: attempt, reason: error.message)
            }
        }
    }

    func sweep(_ isStale: (String) -> Bool) throws(ResolverError) -> [String] { [] }

    /// The servers and search domains that hold everywhere, and those of one interface by its index, zero for none.
    func view(link: UInt32) throws(ResolverError) -> ResolverView {
        let deadline = BusDeadline(milliseconds: Self.patience)
        func manager(_ member: String) -> BusMethod {
            BusMethod(
                destination: Self.service, path: "/org/freedesktop/resolve1",
                interface: "org.freedesktop.resolve1.Manager", member: member)
        }
        return try state.withLock { (state) throws(ResolverError) in
            do throws(BusFailure) {
                let bus = if let bus = state.bus.take() { bus } else { try Self.connect(until: deadline) }
                let servers = try bus.structures(manager("DNS"), fields: "iiay", until: deadline)
                let domains = try bus.structures(manager("Domains"), fields: "isb", until: deadline)
                state.bus = consume bus
                return ResolverView(servers: servers, domains: domains, link: Int32(bitPattern: link))
            } catch {
                throw ResolverError(attempt: "ask systemd-resolved", reason: error.message)
            }
        }
    }

    var changeDescriptor: Int32? { state.withLock { $0.bus?.fileDescriptor } }

    func hasForgotten() -> Bool {
        state.withLock { state in
            // Connecting anew is for ``set(_:on:)``.
            guard let bus = state.bus.take() else { return true }
            var hasForgotten = false
            do throws(BusFailure) {
                try bus.process { signal, texts in
                    // The name, its owner before and its owner now, which is empty while there is none.
                    guard signal == "NameOwnerChanged", texts.count == 3, texts[0] == Self.service else { return }
                    hasForgotten = !texts[2].isEmpty
                }
                state.bus = consume bus
            } catch {
                return true
            }
            return hasForgotten
        }
    }

    /// A connection to the service of this network namespace that is told when another process takes its name.
    private static func connect(until deadline: BusDeadline) throws(BusFailure) -> SystemBus {
        let bus = try SystemBus.connect(until: deadline)
        try bus.call(ping, [], until: deadline)
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg0='\(service)'"
        try bus.call(.bus("AddMatch"), [.text(rule)], until: deadline)
        let process = try bus.call(.bus("GetConnectionUnixProcessID"), [.text(service)], until: deadline)
        guard process.map({ NetworkSpace.isOurs(process: $0) }) ?? true else {
            throw BusFailure(message: "it serves another network namespace")
        }
        return bus
    }

    private static let ping = BusMethod(
        destination: service, path: "/org/freedesktop/resolve1", interface: "org.freedesktop.DBus.Peer", member: "Ping")

    /// The calls in their order: domains before servers, so that no query goes astray in between.
    private static func calls(_ configuration: ResolverConfiguration?, link: Int32) -> [(String, [BusValue])] {
        let link = BusValue.int32(link)
        guard let configuration else { return [("RevertLink", [link]), ("FlushCaches", [])] }
        var domains = configuration.domains.map { domain in
            BusValue.structure([.text(domain.name.description), .boolean(domain.isRouteOnly)])
        }
        if configuration.isDefault { domains.append(.structure([.text("."), .boolean(true)])) }
        let servers = configuration.servers.map { server in
            BusValue.structure([
                .int32(Int32(server.family.rawValue)), .array(of: "y", server.bytes.map { .byte($0) }),
            ])
        }
        return [
            ("SetLinkDomains", [link, .array(of: "(sb)", domains)]),
            ("SetLinkDefaultRoute", [link, .boolean(configuration.isDefault)]),
            ("SetLinkDNS", [link, .array(of: "(iay)", servers)]),
            // Nobody in a tunnel answers to multicast.
            ("SetLinkLLMNR", [link, .text("no")]), ("SetLinkMulticastDNS", [link, .text("no")]),
            ("FlushCaches", []),
        ]
    }

    /// Calls once, or several times while the service has not heard of a new interface yet.
    private static func call(
        _ bus: borrowing SystemBus, _ member: String, _ arguments: [BusValue], isRemoval: Bool, _ deadline: BusDeadline
    ) throws(BusFailure) {
        let method = BusMethod(
            destination: service, path: "/org/freedesktop/resolve1", interface: "org.freedesktop.resolve1.Manager",
            member: member)
        for attempt in 0... {
            do throws(BusFailure) {
                try bus.call(method, arguments, until: deadline)
                return
            } catch {
                guard error.name == missingLink else { throw error }
                // With the interface everything went that was to be taken back.
                if isRemoval { return }
                guard attempt < 50, deadline.remaining > 0 else { throw error }
                usleep(20_000)
            }
        }
    }
}
