internal import ProviderKit

/// Settings calls: in order, one at a time, each answered once.
struct SettingsQueue: Sendable {
    /// So many calls may wait; a provider that asks for more is refused.
    static let capacity = 64

    /// Calls that wait for the one under way.
    var waiting: [(id: UInt64, settings: PacketTunnelNetworkSettings?)] = []
    /// The call under way; its worker may have gone meanwhile and been answered for.
    var applying: (id: UInt64, answered: Bool)?
}

extension SessionMachine {
    mutating func requestSettings(_ id: UInt64, _ wanted: PacketTunnelNetworkSettings?) {
        switch worker {
        case .none, .exiting: return cancelSettings(id)
        // While stopping, a provider may clear its settings, as many do; it gets no new ones.
        case .stopping where wanted != nil: return cancelSettings(id)
        case .loading, .starting, .running, .stopping: break
        }
        guard settings.waiting.count < SettingsQueue.capacity else {
            let failure = TunnelProviderError(
                .networkSettingsFailed, cause: "\(SettingsQueue.capacity) requests for settings are waiting.",
                remedy: "Wait for each completion before the next request.")
            return emit(.completeSettings(id: id, failure: TunnelFailure(failure)))
        }
        settings.waiting.append((id, wanted))
        serveSettings()
    }

    mutating func settingsApplied(_ id: UInt64, _ failure: TunnelFailure?) {
        guard let call = settings.applying, call.id == id else {
            return log(.warning, "Settings were applied that nobody asked for.")
        }
        settings.applying = nil
        if !call.answered { emit(.completeSettings(id: id, failure: failure)) }
        serveSettings()
        advanceEnding()
    }

    /// Answers the calls of a worker that is gone; the one under way still has to end before a tear-down.
    mutating func abandonSettings() {
        if let call = settings.applying, !call.answered {
            settings.applying?.answered = true
            cancelSettings(call.id)
        }
        cancelWaitingSettings(includingClears: true)
    }

    mutating func cancelWaitingSettings(includingClears: Bool) {
        let cancelled = settings.waiting.filter { includingClears || $0.settings != nil }
        settings.waiting.removeAll { includingClears || $0.settings != nil }
        for call in cancelled { cancelSettings(call.id) }
    }

    private mutating func serveSettings() {
        guard settings.applying == nil, !settings.waiting.isEmpty else { return }
        let call = settings.waiting.removeFirst()
        settings.applying = (call.id, false)
        emit(.applySettings(id: call.id, call.settings))
    }

    private mutating func cancelSettings(_ id: UInt64) {
        emit(.completeSettings(id: id, failure: TunnelFailure(TunnelProviderError(.networkSettingsCanceled))))
    }
}
