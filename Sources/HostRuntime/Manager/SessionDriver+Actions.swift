internal import ProviderKit
internal import Session

/// What the machine wants done.
extension SessionDriver {
    func perform(_ action: SessionAction) {
        switch action {
        case .createInterface: createInterface()
        case .tearDown: tearDown()
        case .spawnWorker: spawnWorker()
        case .terminateWorker: killWorker()
        case .startProvider(let options, _): send(.start(options: options))
        case .stopProvider(let reason): send(.stop(reason))
        case .sleepProvider:
            sleepID = takeID()
            send(.sleep(id: sleepID))
        case .wakeProvider: send(.wake)
        case .deliverMessage(let id, let bytes, let wantsReply):
            send(.appMessage(id: id, bytes, wantsReply: wantsReply))
        case .applySettings(let id, let settings): apply(settings, id)
        case .completeSettings(let id, let failure): completeSettings(id, failure)
        case .publish(let status, let error):
            // The socket goes first: who finds none may use the name again.
            if status == .disconnecting || status == .disconnected { closeControlSocket() }
            reporter.send(.status(status, interface: interfaceName, error: error))
        case .replyMessage(let id, let bytes): replies.removeValue(forKey: id)?(.success(bytes))
        case .refuseMessage(let id, let failure): replies.removeValue(forKey: id)?(.failure(failure))
        case .allowSleep:
            let waiting = sleepers
            sleepers = []
            for allow in waiting { allow() }
        case .log(let level, let text): log(level, text)
        }
    }

    /// Tells the machine when somebody deleted the interface, and lets the interface put back what else was taken.
    func checkInterface() {
        guard let interface else { return }
        if interface.isLost() { return feed(.interfaceLost(name: interface.name)) }
        for remark in interface.restore() { log(.warning, remark) }
        if interface.takeNetworkChange(), worker?.observesNetworks == true { tellNetworks() }
    }

    /// Tells the worker what the machine is connected to, unless it knows.
    func tellNetworks() {
        do {
            guard let worker, let networks = try interface?.hostNetworks(), worker.knownNetworks != networks else {
                return
            }
            worker.knownNetworks = networks
            send(.hostNetworks(networks))
        } catch {
            log(.warning, "What the machine is connected to is not known: \(TunnelFailure(error).cause)")
        }
    }

    private func createInterface() {
        do {
            let made = try system.makeInterface(name: interfaceName, isFixed: configuration.interfaceName != nil)
            do {
                try poller.watch(made.changeDescriptor, token: token(for: .interface))
            } catch {
                _ = made.tearDown()
                throw error
            }
            interface = made
            interfaceName = made.name
            do {
                try openControlSocket()
            } catch {
                tearDownInterface()
                throw error
            }
            for remark in made.remarks { log(.warning, remark) }
            feed(.interfaceCreated(failure: nil))
        } catch {
            feed(.interfaceCreated(failure: TunnelFailure(error)))
        }
    }

    private func tearDown() {
        let remains = tearDownInterface()
        guard !remains.isEmpty else { return feed(.tornDown(failure: nil)) }
        let failure = InterfaceError(
            .notRemoved,
            cause: "Not everything of \(interfaceName) could be removed: \(remains.joined(separator: "; ")).")
        feed(.tornDown(failure: TunnelFailure(failure)))
    }

    /// Removes the interface with what is on it.
    ///
    /// - Returns: What could not be removed.
    @discardableResult
    private func tearDownInterface() -> [String] {
        guard let interface else { return [] }
        poller.forget(interface.changeDescriptor)
        self.interface = nil
        return interface.tearDown()
    }

    private func apply(_ settings: PacketTunnelNetworkSettings?, _ id: UInt64) {
        do {
            guard let interface else { throw TunnelProviderError(.networkSettingsCanceled) }
            shortfalls = try interface.apply(settings)
            for shortfall in shortfalls { log(.warning, shortfall.description) }
            feed(.settingsApplied(id: id, failure: nil))
        } catch {
            let failure = TunnelFailure(error)
            log(.warning, failure.cause)
            feed(.settingsApplied(id: id, failure: failure))
        }
    }

    private func completeSettings(_ id: UInt64, _ failure: TunnelFailure?) {
        guard let call = settingsCalls.removeValue(forKey: id), call.generation == generation else { return }
        if failure == nil, let worker, worker.knownShortfalls != shortfalls {
            worker.knownShortfalls = shortfalls
            send(.settingsShortfalls(shortfalls))
        }
        send(.settingsCompleted(id: call.id, failure))
    }
}
