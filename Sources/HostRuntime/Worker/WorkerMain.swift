import ProviderKit

/// The worker process: `providerhost worker --channel-fd N`.
public enum WorkerMain {
    /// Serves one manager over the socket `channel` and returns the exit status of the process.
    ///
    /// Called on the main thread before the process has another thread: privileges are dropped for all threads that
    /// come later, and only then is the module loaded.
    ///
    /// - Parameter descriptor: The inherited descriptor of the channel; owned by this call.
    /// - Returns: 0 after an orderly stop, 1 after a failure, which the manager was told as far as it could be.
    public static func run(channel descriptor: Int32) -> Int32 {
        Sandbox.ignoreGroupSignals()
        let socket = Descriptor(adopting: descriptor)
        let channel = WorkerChannel(socket)
        do {
            try ChannelSystem.setCloseOnExec(descriptor)
            guard let (message, descriptors) = try channel.receiveWaiting() else { return 1 }
            guard case .configure(var configuration) = message, let device = descriptors.first else {
                return complain("the first message of the manager is not a configuration")
            }
            if configuration.hasSecrets, let memory = descriptors.last {
                let secrets = try SessionSecrets(reading: memory)
                configuration.protocolConfiguration = try secrets.filled(into: configuration.protocolConfiguration)
                // The second reference to the memory goes with this one.
                memory.close()
            }
            return serve(channel, configuration, device)
        } catch {
            return complain("descriptor \(descriptor) is no channel of a manager: \(error)")
        }
    }

    private static func serve(
        _ channel: WorkerChannel, _ configuration: WorkerConfiguration, _ device: Descriptor
    ) -> Int32 {
        do {
            try Sandbox.enter()
            let flow = try TunPacketFlow(device: device, headerLength: configuration.virtualHeaderLength)
            let worker = try Worker(channel: channel, configuration: configuration, flow: flow) { context in
                try ModuleLoader.load(
                    path: configuration.executablePath, principalClass: configuration.principalClass, context: context)
            }
            return worker.run()
        } catch {
            try? channel.sendWaiting(.failed(TunnelFailure(error)))
            return 1
        }
    }

    /// Without a channel the standard error is all that is left.
    private static func complain(_ text: String) -> Int32 {
        let line = Array("providerhost worker: \(text)\n".utf8)
        _ = ChannelSystem.write(2, line)
        return 1
    }
}
