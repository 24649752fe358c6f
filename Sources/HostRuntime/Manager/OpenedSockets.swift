internal import PacketPath
internal import ProviderKit

/// Sockets for a worker.
struct OpenedSockets {
    var port: UInt16
    var ipv4: Descriptor?
    var ipv6: Descriptor?
    /// Remarks for the log.
    var remarks: [String] = []
}

extension OpenedSockets {
    /// Opens sockets in the network namespace of this process.
    ///
    /// - Throws: ``InterfaceError``.
    init(port: UInt16, mark: UInt32) throws {
        var options = UDPSocket.Options()
        options.port = port
        options.mark = mark
        do {
            let pair = try UDPSocket.pair(options: options)
            self.port = pair.v4?.port ?? pair.v6?.port ?? 0
            // The sockets close their own descriptors, so the worker gets duplicates.
            ipv4 = try pair.v4.map { Descriptor(adopting: try ChannelSystem.duplicate($0.descriptor)) }
            ipv6 = try pair.v6.map { Descriptor(adopting: try ChannelSystem.duplicate($0.descriptor)) }
        } catch let error as PathError {
            throw InterfaceError(.socketFailed, cause: "\(error.message).", remedy: "\(error.advice.capitalizedFirst).")
        }
    }
}
