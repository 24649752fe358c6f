internal import ProviderKit
internal import Session

/// The worker process and its channel.
extension SessionDriver {
    /// Messages that are still taken from a worker that has ended; its children could go on sending.
    private static let lastMessages = 4096

    func spawnWorker() {
        generation += 1
        do {
            guard let interface else { throw InterfaceError(.gone) }
            let (channel, socket) = try makeChannelPair()
            let device = try interface.duplicateDevice()
            let process = try system.spawnWorker(channel: socket)
            // The worker holds the other end now, and the end of the channel is its end.
            socket.close()
            let fresh = RunningWorker(
                process: process, channel: channel, channelToken: token(for: .channel),
                exitToken: token(for: .workerExit))
            try poller.watch(channel.fileDescriptor, token: fresh.channelToken)
            try poller.watch(process.exitDescriptor, token: fresh.exitToken)
            worker = fresh
            let secrets = configuration.secrets.map { [$0.memory] } ?? []
            send(.configure(workerConfiguration(interface)), descriptors: [device] + secrets)
            tellNetworks()
        } catch {
            feed(.workerExited(.notStarted(TunnelFailure(error))))
        }
    }

    func killWorker() {
        guard let worker, !worker.isKilled else { return }
        worker.isKilled = true
        worker.process.kill()
    }

    /// Sends without ever waiting: a worker that does not read its messages is ended.
    func send(_ message: ManagerMessage, descriptors: [Descriptor] = []) {
        guard let worker, !worker.isKilled else { return }
        do {
            try worker.channel.send(message, descriptors: descriptors)
            updateInterest(worker)
        } catch .closed {
            // Its exit tells the rest.
        } catch {
            endWorker("The provider's process is ended: \(error.cause)")
        }
    }

    /// Takes what the worker sent and sends what waits for it.
    func serveChannel() {
        guard let worker, worker.watchesChannel else { return }
        if worker.watchesRoom {
            try? worker.channel.flush()
            updateInterest(worker)
        }
        receive(from: worker, atMost: Self.messagesPerTurn)
    }

    func collectWorker() {
        guard let worker, let how = worker.process.collect() else { return }
        receive(from: worker, atMost: Self.lastMessages)
        closeChannel(worker)
        poller.forget(worker.process.exitDescriptor)
        release(token: worker.exitToken)
        self.worker = nil
        endControlConnections()
        for hook in hooks.values { hook.process.kill() }
        checkInterface()
        feed(.workerExited(how))
    }

    /// Ends a worker that broke the rules of the channel.
    func endWorker(_ reason: String) {
        log(.error, reason)
        killWorker()
    }

    private func receive(from worker: RunningWorker, atMost limit: Int) {
        guard worker.watchesChannel else { return }
        do {
            for _ in 0..<limit {
                switch try worker.channel.receive() {
                case .message(let message, _): receive(message, from: worker)
                case .wouldBlock: return
                case .closed:
                    // A worker without a channel is of no use, whatever it still does.
                    closeChannel(worker)
                    return killWorker()
                }
            }
        } catch {
            closeChannel(worker)
            endWorker("The provider's process is ended for what it sent: \(error.cause)")
        }
    }

    private func receive(_ message: WorkerMessage, from worker: RunningWorker) {
        if case .log(let level, let text) = message { return logFromWorker(level, text) }
        guard !worker.isKilled else { return }
        switch message {
        case .log: break
        case .ready: feed(.workerReady)
        case .failed(let failure): feed(.workerFailed(failure))
        case .startCompleted(let failure): feed(.startCompleted(failure: failure))
        case .stopCompleted: feed(.stopCompleted)
        case .reasserting(let value): feed(.reasserting(value))
        case .appMessageReply(let id, let bytes): feed(.messageReply(id: id, bytes))
        case .sleepCompleted(let id): if id == sleepID { feed(.sleepCompleted) }
        case .openUDPSockets(let id, let request): openSockets(id, request)
        case .runHook(let id, let command): runHook(id, command)
        case .observeHostNetworks:
            worker.observesNetworks = true
            tellNetworks()
        case .controlActivity(let id, let activity): note(activity, of: id)
        case .cancelled(let failure):
            // A provider cancels when its interface is deleted; the deletion is the cause then.
            checkInterface()
            feed(.cancelled(failure: failure))
        case .setSettings(let id, let settings):
            let call = takeID()
            settingsCalls[call] = (generation, id)
            feed(.settingsRequested(id: call, settings))
        }
    }

    private func openSockets(_ id: UInt64, _ request: UDPSocketRequest) {
        do {
            guard let interface else { throw InterfaceError(.gone) }
            let opened = try interface.openSockets(request)
            for remark in opened.remarks { log(.warning, remark) }
            let reply = UDPSocketsReply.opened(
                port: opened.port, hasIPv4: opened.ipv4 != nil, hasIPv6: opened.ipv6 != nil)
            send(.udpSockets(id: id, reply), descriptors: [opened.ipv4, opened.ipv6].compactMap(\.self))
        } catch {
            send(.udpSockets(id: id, .failed(TunnelFailure(error))))
        }
    }

    private func closeChannel(_ worker: RunningWorker) {
        guard worker.watchesChannel else { return }
        worker.watchesChannel = false
        poller.forget(worker.channel.fileDescriptor)
        release(token: worker.channelToken)
        worker.channel.close()
    }

    private func updateInterest(_ worker: RunningWorker) {
        let wants = worker.channel.wantsToWrite
        guard worker.watchesChannel, wants != worker.watchesRoom else { return }
        worker.watchesRoom = wants
        do {
            try poller.update(worker.channel.fileDescriptor, token: worker.channelToken, writes: wants)
        } catch {
            endWorker("The provider's process is ended: \(error.cause)")
        }
    }

    private func workerConfiguration(_ interface: any SessionInterface) -> WorkerConfiguration {
        var worker = WorkerConfiguration(
            bundlePath: configuration.bundlePath, executablePath: configuration.executablePath,
            principalClass: configuration.principalClass,
            protocolConfiguration: configuration.protocolConfiguration, interfaceName: interface.name,
            isOnDemand: configuration.isOnDemand, virtualHeaderLength: interface.virtualHeaderLength,
            mtu: interface.mtu, logLevel: configuration.logLevel)
        worker.stateDirectory = stateDirectory()
        worker.hasSecrets = configuration.secrets != nil
        return worker
    }

    private func stateDirectory() -> String? {
        do {
            return try system.stateDirectory(of: configuration.protocolConfiguration.providerBundleIdentifier)
        } catch {
            let failure = TunnelFailure(error)
            log(.warning, "The provider has no state directory. \(failure.cause) \(failure.remedy)")
            return nil
        }
    }
}
