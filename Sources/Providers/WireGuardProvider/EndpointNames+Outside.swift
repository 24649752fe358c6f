import ProviderKit
import WireGuard

extension EndpointNames {
    /// The names of a configuration, looked up outside of the tunnel alone: through it nothing passes while they are needed.
    ///
    /// - Parameters:
    ///   - configuration: The file.
    ///   - context: The host, which opens the sockets.
    ///   - mark: The mark of the sockets, nil for the host's own.
    init(_ configuration: Configuration, _ context: any ProviderContext, mark: UInt32?) {
        self.init(configuration) { name in
            do {
                let answer = try Rendezvous<Result<UDPSockets, any Error>>()
                context.openUDPSockets(UDPSocketRequest(port: 0, mark: mark)) { answer.fulfil($0) }
                let outside = OutsideResolver(try answer.wait().get(), except: configuration.interface.dnsServers)
                let found = try EndpointResolver.resolve(
                    name, ipv4: true, ipv6: true, outside: outside, isGuarded: true)
                let list = found.map(\.description).joined(separator: ", ")
                context.log(.info, "\(name) does not answer; its name is looked up again: \(list)")
                return found
            } catch {
                context.log(.warning, "\(name) does not answer and stays where it is: \(error)")
                return []
            }
        }
    }
}
