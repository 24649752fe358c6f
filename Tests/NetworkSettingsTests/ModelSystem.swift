import Glibc
import Netlink
import NetworkSettings
import Synchronization

/// A model of what the kernel keeps for settings, with its side effects, and with faults at chosen operations.
final class ModelSystem: SettingsEffects {
    /// How an operation fails.
    enum Fault: CaseIterable {
        /// Refused; nothing happened.
        case refused
        /// Done, but the answer was lost.
        case unanswered
    }

    struct Contents: Equatable {
        var links: [UInt32: Link]
        var addresses: Set<InterfaceAddress> = []
        var routes: Set<Route> = []
        var rules: Set<Rule>
        var sysctls: [String: String]
        var resolver: ResolverConfiguration?
        var filter: [FilterTableName: FilterTable] = [:]
    }

    fileprivate struct State {
        var contents: Contents
        var operations = 0
        var reads = 0
        var fault: (from: Int, through: Int, Fault)?
        var readFault: Int?
        var log: [Contents] = []
    }

    fileprivate let state: Mutex<State>
    let tunnel: UInt32 = 7
    let underlay: UInt32 = 2

    init(underlayMTU: Int = 1500, hasIPv6: Bool = true) {
        func link(_ index: UInt32, _ name: String, mtu: Int, up: Bool) -> Link {
            Link(
                index: index, name: name, flags: up ? 1 : 0, mtu: mtu, kind: "tun",
                addressGeneration: hasIPv6 ? .eui64 : nil)
        }
        var contents = Contents(
            links: [
                7: link(7, "phtun0", mtu: 1500, up: false), 2: link(2, "eth0", mtu: underlayMTU, up: true),
            ],
            rules: [],
            sysctls: [
                "net/ipv4/conf/all/src_valid_mark": "0", "net/ipv4/conf/phtun0/promote_secondaries": "0",
            ])
        for family in AddressFamily.allCases {
            contents.rules.insert(Rule(family: family, priority: 32766, action: .lookup(254), protocolNumber: 2))
            contents.routes.insert(Route(.everything(family), interface: 2, protocolNumber: 3))
        }
        state = Mutex(State(contents: contents))
    }

    var contents: Contents { state.withLock { $0.contents } }
    /// Changes that were tried so far.
    var operations: Int { state.withLock { $0.operations } }
    var reads: Int { state.withLock { $0.reads } }
    /// The contents after each change since `forgetLog`.
    var log: [Contents] { state.withLock { $0.log } }

    /// Lets the operations of this range fail, counted from now.
    func arm(_ fault: Fault?, from: Int, through: Int) {
        state.withLock { state in
            state.operations = 0
            state.fault = fault.map { (from, through, $0) }
        }
    }

    /// Lets the n-th read from now fail.
    func armRead(_ number: Int?) {
        state.withLock { state in
            state.reads = 0
            state.readFault = number
        }
    }

    func forgetLog() { state.withLock { $0.log = [] } }

    func change(_ body: @Sendable (inout Contents) -> Void) { state.withLock { body(&$0.contents) } }

    /// Which interface a packet leaves by; nil if it is refused.
    static func lookup(_ address: IPAddress, mark: UInt32 = 0, in contents: Contents) -> UInt32? {
        let rules = contents.rules.filter { $0.family == address.family }.sorted { $0.priority < $1.priority }
        for rule in rules where rule.mark == nil || rule.mark == mark & rule.mask {
            guard let table = rule.table else { return nil }
            let best = contents.routes.filter { $0.table == table && $0.destination.contains(address) }
                .max { ($0.destination.length, $1.metric) < ($1.destination.length, $0.metric) }
            switch best?.kind {
            case nil, .throw: continue
            case .unicast: return best?.interface
            default: return nil
            }
        }
        return nil
    }
}

extension ModelSystem {
    func submit(_ requests: [Request]) -> [NetlinkError?] {
        state.withLock { state in
            requests.map { request in
                let code = state.step { ModelSystem.apply(request, to: &$0) }
                return code == 0 ? nil : NetlinkError(code: code, request: "\(request)", family: request.family)
            }
        }
    }

    func setSysctl(_ name: String, to value: String) throws(NetlinkError) {
        let code = state.withLock { state in
            state.step { contents in
                guard contents.sysctls[name] != nil else { return ENOENT }
                contents.sysctls[name] = value
                return 0
            }
        }
        if code != 0 { throw NetlinkError(code: code, request: "set \(name)") }
    }

    /// A change of something that is not the kernel's; returns 0 or the errno.
    func perform(_ body: (inout Contents) -> Int32) -> Int32 { state.withLock { $0.step(body) } }

    func sysctl(_ name: String) -> String? { contents.sysctls[name] }

    func links() throws(NetlinkError) -> [Link] { Array(try read().links.values) }

    func link(index: UInt32) throws(NetlinkError) -> Link {
        guard let link = try read().links[index] else { throw NetlinkError(code: ENODEV, request: "find \(index)") }
        return link
    }

    func link(named name: String) throws(NetlinkError) -> Link {
        guard let link = try read().links.values.first(where: { $0.name == name }) else {
            throw NetlinkError(code: ENODEV, request: "find \(name)")
        }
        return link
    }

    func addresses(interface: UInt32) throws(NetlinkError) -> [InterfaceAddress] {
        try read().addresses.filter { $0.interface == interface }
    }

    func routes(table: UInt32?) throws(NetlinkError) -> [Route] {
        try read().routes.filter { table == nil || $0.table == table }
    }

    func rules() throws(NetlinkError) -> [Rule] { try read().rules.sorted { $0.priority < $1.priority } }

    private func read() throws(NetlinkError) -> Contents {
        try state.withLock { (state) throws(NetlinkError) in
            state.reads += 1
            if state.readFault == state.reads - 1 { throw NetlinkError(code: EIO, request: "read") }
            return state.contents
        }
    }
}

extension ModelSystem.State {
    /// Counts an operation, lets it fail if it is its turn, and keeps the contents after it.
    mutating func step(_ body: (inout ModelSystem.Contents) -> Int32) -> Int32 {
        defer { operations += 1 }
        let isFaulty = fault.map { ($0.from...$0.through).contains(operations) } ?? false
        if isFaulty, fault?.2 == .refused { return EIO }
        let code = body(&contents)
        log.append(contents)
        return isFaulty ? ETIMEDOUT : code
    }
}
