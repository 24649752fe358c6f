import Dispatch
import ProviderKit

/// A provider and the one serial queue on which it is made and called.
///
/// SAFETY: a provider need not be `Sendable`. It is touched in blocks on `queue` only, which run one after another.
final class ProviderBox: @unchecked Sendable {
    private let queue = DispatchQueue(label: "org.providerhost.provider")
    private var provider: (any PacketTunnelProvider)?

    /// Makes the provider on the queue.
    func set(_ make: @Sendable () throws -> any PacketTunnelProvider) throws {
        try queue.sync { provider = try make() }
    }

    /// Calls the provider on the queue, later.
    func perform(_ action: @escaping @Sendable (any PacketTunnelProvider) -> Void) {
        queue.async { [self] in
            if let provider { action(provider) }
        }
    }
}
