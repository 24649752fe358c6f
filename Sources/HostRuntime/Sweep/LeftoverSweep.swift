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
        public enum Kind: String, Sendable {
            case rule, route, address, filterTable, resolver, controlSocket, namespace
        }

        public let kind: Kind
        /// Which one, for people.
        public let name: String
    }

    /// What was removed.
    public private(set) var removed: [Item] = []
    /// What could not be removed or looked for, a sentence each.
    public private(set) var failures: [String] = []

    /// Sweeps the network namespace of the calling thread.
    ///
    /// - Throws: A ``TunnelError`` when the system's state cannot be read at all; nothing was removed then.
    public init() throws {
        let effects = try SystemEffects()
        add(try SettingsSweep.orphans(effects))
        let isGone = { (name: String) in effects.lacks(name) }
        // The packet filter comes after the routes: until then nothing that was kept in can leave.
        sweepFilter(effects, isGone)
        sweepResolver(isGone)
        sweepSockets(isGone)
        let spaces = IsolatedSpace.sweep()
        removed += spaces.removed.map { Item(kind: .namespace, name: $0) }
        failures += spaces.failures
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

    private mutating func sweepFilter(_ effects: SystemEffects, _ isGone: (String) -> Bool) {
        do throws(FilterError) {
            let filter = try NftablesProgram()
            let translations = try Masquerade.sweep(filter, effects, isGone)
            let stale = try filter.tables().filter { isGone($0.interface) }
            try filter.replace(stale, with: [])
            removed += (translations + stale).map { Item(kind: .filterTable, name: "\($0.family.rawValue) \($0.text)") }
        } catch {
            // Without the program no table was ever made.
            if error.code != .programMissing { failures.append(error.cause) }
        }
    }

    private mutating func sweepResolver(_ isGone: (String) -> Bool) {
        do throws(ResolverError) {
            removed += try SystemResolver.sweep(isGone).map { Item(kind: .resolver, name: $0) }
        } catch {
            failures.append("\(error)")
        }
    }

    private mutating func sweepSockets(_ isGone: (String) -> Bool) {
        for socket in StaleSocket.all(isGone) {
            if let failure = socket.remove() {
                failures.append(failure)
            } else {
                removed.append(Item(kind: .controlSocket, name: socket.path))
            }
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
