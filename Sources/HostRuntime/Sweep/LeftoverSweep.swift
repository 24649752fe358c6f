private import Glibc
internal import Netlink
internal import NetworkSettings
internal import ProviderKit

/// Removes what sessions that ended without cleaning up have left behind, from the state of the system alone.
///
/// The interface of a session goes with its process. So whatever names an interface that is there belongs to a session
/// that lives, and is left alone.
public struct LeftoverSweep: Hashable, Sendable {
    /// One thing that was removed.
    public struct Item: Hashable, Sendable {
        /// What kind of thing it is.
        public enum Kind: String, Sendable, CaseIterable {
            case rule, route, address, filterTable, resolver, controlSocket, namespace
        }

        public let kind: Kind
        /// Which one, for people.
        public let name: String
    }

    /// What was removed.
    public private(set) var removed: [Item] = []
    /// What could not be removed or looked for, or is not for a start to remove, a sentence each.
    public private(set) var failures: [String] = []

    private let isRehearsal: Bool
    /// How long a worker may take to end after its manager, in nanoseconds; on a machine with much to do it was 0.3 s.
    private static let patience: UInt64 = 500_000_000

    /// Sweeps the network namespace of the calling thread.
    ///
    /// - Parameter isRehearsal: Whether nothing is removed, and ``removed`` says what would be.
    /// - Throws: A ``TunnelError`` when the system's state cannot be read at all; nothing was removed then.
    public init(isRehearsal: Bool = false) throws {
        self.isRehearsal = isRehearsal
        let effects = try SystemEffects()
        if !isRehearsal { Self.awaitOrphans(effects) }
        add(try SettingsSweep.orphans(isRehearsal ? RehearsedEffects(system: effects) as any SettingsEffects : effects))
        let isGone = { (name: String) in effects.lacks(name) }
        // The packet filter comes after the routes: until then nothing that was kept in can leave.
        do throws(FilterError) {
            let filter = try NftablesProgram()
            sweepFilter(filter, try filter.tables(), effects, isGone)
        } catch {
            // Without the program no table was ever made.
            if error.code != .programMissing { failures.append(error.cause) }
        }
        sweepResolver(isGone)
        sweepSockets(isGone)
        let spaces = IsolatedSpace.sweep(isRehearsal: isRehearsal)
        removed += spaces.removed.map { Item(kind: .namespace, name: $0) }
        failures += spaces.failures
    }

    /// Sweeps as the start of a tunnel does: also what was left on the name that the tunnel has now.
    ///
    /// Kill switches of other names stay in force, for they guard until somebody decides, and ours is in the place of the
    /// one on this name. Control sockets and namespaces are in nobody's way.
    ///
    /// - Parameters:
    ///   - name: The interface of the tunnel.
    ///   - effects: The kernel.
    ///   - filter: The packet filter, and the tables of ours as they were before the start; nil where there is none.
    ///   - isGuarded: Whether the tunnel has a kill switch.
    /// - Throws: `NetlinkError` when the kernel cannot be asked.
    init(
        startOf name: String, _ effects: SystemEffects, filter: (NftablesProgram, [FilterTableName])?, isGuarded: Bool
    ) throws {
        isRehearsal = false
        add(try SettingsSweep.interface(name, effects))
        let isLeft = { (interface: String) in interface == name || effects.lacks(interface) }
        if let (program, tables) = filter {
            let guards = tables.filter { $0.purpose == .guardian }
            let swept = tables.filter { !guards.contains($0) || $0.interface == name && !isGuarded }
            sweepFilter(program, swept, effects, isLeft)
            failures += Set(guards.map(\.interface)).filter { $0 != name && isLeft($0) }.sorted().map {
                "The kill switch of \($0), whose process is gone, is in force; `providerhost sweep` ends it."
            }
        }
        sweepResolver(isLeft)
    }

    /// What a rehearsal found, as a test makes it up.
    init(rehearsed: [Item], failures: [String] = []) {
        isRehearsal = true
        removed = rehearsed
        self.failures = failures
    }

    /// What was removed and what could not be, as lines for a log.
    var remarks: [String] {
        let phrases = Item.Kind.allCases.compactMap { kind in
            let names = removed.filter { $0.kind == kind }.map(\.name)
            return names.isEmpty ? nil : kind.phrase(names)
        }
        let removal =
            phrases.isEmpty ? [] : ["Removed what an earlier process left: \(phrases.joined(separator: ", "))."]
        return removal + failures
    }

    /// Waits for interfaces whose session was killed to go.
    ///
    /// They go with the worker, which ends a moment after its manager. A control socket that nobody serves tells of them; of
    /// sessions that have none nothing does.
    private static func awaitOrphans(_ effects: SystemEffects) {
        let end = AlarmClock.now + patience
        while AlarmClock.now < end, !StaleSocket.all({ !effects.lacks($0) }).isEmpty { usleep(10_000) }
    }

    private mutating func add(_ sweep: SettingsSweep) {
        removed += sweep.removed.map { request in
            switch request {
            case .deleteRule(let rule): Item(kind: .rule, name: "\(rule)")
            case .deleteAddress(let address): Item(kind: .address, name: "\(address)")
            case .deleteRoute(let route): Item(kind: .route, name: "\(route)")
            default: Item(kind: .route, name: "\(request)")
            }
        }
        failures += sweep.failures
    }

    private mutating func sweepFilter(
        _ filter: NftablesProgram, _ tables: [FilterTableName], _ effects: SystemEffects, _ isGone: (String) -> Bool
    ) {
        let stale = tables.filter { isGone($0.interface) }
        let translations = stale.filter { $0.purpose == .masquerade || $0.purpose == .forward }
        do throws(FilterError) {
            if !isRehearsal {
                // With translations goes the kernel's forwarding, unless another gateway needs it.
                if !translations.isEmpty { _ = try Masquerade.sweep(filter, effects, isGone) }
                try filter.replace(stale.filter { !translations.contains($0) }, with: [])
            }
            removed += stale.map { Item(kind: .filterTable, name: "\($0.family.rawValue) \($0.text)") }
        } catch {
            failures.append(error.cause)
        }
    }

    private mutating func sweepResolver(_ isGone: (String) -> Bool) {
        do throws(ResolverError) {
            var stale: [String] = []
            _ = try SystemResolver.sweep { name in
                guard isGone(name) else { return false }
                stale.append(name)
                // Nothing is taken back of an interface that is not stale.
                return !isRehearsal
            }
            removed += stale.map { Item(kind: .resolver, name: $0) }
        } catch {
            failures.append("\(error)")
        }
    }

    private mutating func sweepSockets(_ isGone: (String) -> Bool) {
        for socket in StaleSocket.all(isGone) {
            if !isRehearsal, let failure = socket.remove() {
                failures.append(failure)
            } else {
                removed.append(Item(kind: .controlSocket, name: socket.path))
            }
        }
    }
}

extension LeftoverSweep.Item.Kind {
    /// Things of this kind in a sentence: rules and routes by their number, others by their names.
    func phrase(_ names: [String]) -> String {
        let list = names.joined(separator: ", ")
        return switch self {
        case .rule: names.count == 1 ? "1 rule" : "\(names.count) rules"
        case .route: names.count == 1 ? "1 route" : "\(names.count) routes"
        case .address: names.count == 1 ? "1 address" : "\(names.count) addresses"
        case .filterTable: "the packet filter's \(list)"
        case .resolver: "DNS of \(list)"
        case .controlSocket: "the control socket \(list)"
        case .namespace: "the namespace \(list)"
        }
    }
}

extension SystemEffects {
    /// Whether there surely is no interface of this name.
    func lacks(_ interface: String) -> Bool {
        do throws(NetlinkError) {
            _ = try link(named: interface)
            return false
        } catch {
            return error.kind == .noSuchInterface
        }
    }
}
