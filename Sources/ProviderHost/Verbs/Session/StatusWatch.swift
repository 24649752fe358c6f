internal import Control
internal import Glibc
internal import HostRuntime
internal import ProviderKit

/// `status --watch`: follows profiles until the program is ended.
struct StatusWatch: Sendable {
    let managers: [TunnelProviderManager]
    let console: Console
    let asJSON: Bool

    /// Follows for ever, or until the manager of the machine lets go.
    func run() throws {
        let redraws = !asJSON && isatty(1) == 1
        let (changed, continuation) = AsyncStream.makeStream(of: TunnelProviderManager.self)
        let streams = managers.map { ($0, $0.connection.statusChanges) }
        draw(managers, isFirst: true, redraws: redraws)
        try Waiting.run { [self] in
            await withTaskGroup(of: Void.self) { group in
                for (manager, changes) in streams {
                    group.addTask { for await _ in changes { continuation.yield(manager) } }
                }
                // One at a time, whichever tunnel it is.
                for await manager in changed { draw(redraws ? managers : [manager], isFirst: false, redraws: redraws) }
            }
        }
    }

    private func draw(_ shown: [TunnelProviderManager], isFirst: Bool, redraws: Bool) {
        // Up by the lines of the picture before, and clear to the end of the screen.
        if redraws, !isFirst { console.output("\u{1B}[\(managers.count)A\u{1B}[J") }
        for manager in shown { StatusVerb.show(manager, error: nil, console, asJSON: asJSON) }
    }
}
