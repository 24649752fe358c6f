internal import Netlink
internal import NetworkSettings

/// Notices what may make the network another one: links, addresses, default routes, and the resolver's files.
///
/// What it tells is only a reason to look: nothing of a tunnel of ours is one.
final class NetworkWatch {
    private let loop: EventLoop
    private let monitor: NetlinkMonitor
    private let files: FileWatch
    private let onChange: () -> Void
    private var tokens: [(descriptor: Int32, token: UInt64)] = []
    /// The indices of our tunnels' interfaces.
    private var own: Set<UInt32> = []

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - loop: What calls back.
    ///   - onChange: Called when something has changed.
    /// - Throws: `NetlinkError` or ``SystemCallError`` when the process has no descriptor left.
    init(_ loop: EventLoop, onChange: @escaping () -> Void) throws {
        self.loop = loop
        self.onChange = onChange
        monitor = try NetlinkMonitor()
        files = try FileWatch()
        own = Set(try NetlinkSocket().links().filter(\.isOwn).map(\.index))
        tokens.append(
            (monitor.fileDescriptor, try loop.watch(monitor.fileDescriptor) { [unowned self] in takeEvents() }))
        tokens.append(
            (files.descriptor.number, try loop.watch(files.descriptor.number) { [unowned self] in filesChanged() }))
        files.watch(ResolverView.paths)
    }

    deinit { for (descriptor, token) in tokens { loop.forget(descriptor, token: token) } }

    private func takeEvents() {
        // A portion at a time: what is left over makes the descriptor readable again.
        guard let events = try? monitor.read() else { return }
        if events.map(isReasonToLook).contains(true) { onChange() }
    }

    private func filesChanged() {
        files.drain()
        // A file that was replaced is another one.
        files.watch(ResolverView.paths)
        onChange()
    }

    private func isReasonToLook(_ event: NetlinkMonitor.Event) -> Bool {
        switch event {
        case .link(let link):
            if link.isOwn { own.insert(link.index) }
            return !link.isOwn
        case .linkRemoved(let link):
            // The number can be given to another interface.
            return own.remove(link.index) == nil && !link.isOwn
        case .address(let address), .addressRemoved(let address): return !own.contains(address.interface)
        case .route(let route), .routeRemoved(let route):
            let isOwn = route.interface.map(own.contains) ?? false
            return route.destination.isDefault && route.table == Route.mainTable && !isOwn
        case .rule, .ruleRemoved: return false
        case .resyncNeeded: return true
        }
    }
}
