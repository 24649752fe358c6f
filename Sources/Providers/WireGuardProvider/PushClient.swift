import ProviderKit
import SettingsPush
import Synchronization
import WireGuard

/// The client's end of pushed settings: between the machine, the tunnel's control thread and the host.
final class PushClient: ControlPlane {
    /// What other threads tell the client.
    struct Mailbox {
        var outcomes: [(id: UInt64, refusal: TunnelFailure?)] = []
        var isStopping = false
        var hasNewNetworks = false
    }

    /// What is in force, what was offered, and what became of that.
    struct Account {
        var applied = DesiredSettings.bare
        var lastOffer: DesiredSettings?
        /// The end of the last snapshot, if it is not in force.
        var failure: SettingsResult?
        /// Why the host did not apply it, where that is the reason.
        var refusal: TunnelFailure?
    }

    /// The client as the provider sees it, from any thread.
    final class Handle: Sendable {
        let mailbox = Mutex(Mailbox())
        /// Opens when the tunnel is up, or with the reason why it will not be.
        let started = Gate()
        /// Opens when the lease was given back.
        let released = Gate()
        /// What `settings show` tells.
        let account = Mutex(Account())
        let waker: ControlPlaneWaker

        init(_ waker: ControlPlaneWaker) { self.waker = waker }

        /// Gives the lease back and returns when that is done, half a second later at most.
        func stop() async {
            started.open(.failure(EngineError.stopped))
            mailbox.withLock { $0.isStopping = true }
            waker.wake()
            try? await released.wait()
        }

        /// Has the machine's networks looked at again.
        func noteNetworks() {
            mailbox.withLock { $0.hasNewNetworks = true }
            waker.wake()
        }

        /// Tells whoever waits that the engine has stopped.
        func abandon() {
            started.open(.failure(EngineError.stopped))
            released.open(.success(()))
        }
    }

    private let profile: PushProfile
    private let context: any ProviderContext
    private let handle: Handle
    /// Where the gateway is.
    private let endpoint: Endpoint?
    private var machine: ClientMachine
    private var outputs: [ControlPlaneOutput] = []
    private var inFlight: DesiredSettings?
    /// What the host said to the settings of the snapshot that is on its way.
    private var refusal: TunnelFailure?
    /// The allowed IPs of the gateway that are in force.
    private var allowedIPs: [IPPrefix] = []
    private var leaveAt: Instant?
    private var hasToldUnsupported = false

    init(
        _ profile: PushProfile, _ context: any ProviderContext, _ handle: Handle, endpoint: Endpoint?, seed: UInt64
    ) {
        self.profile = profile
        self.context = context
        self.handle = handle
        self.endpoint = endpoint
        let known = profile.policyContext(context.hostNetworks, endpoint: endpoint)
        machine = ClientMachine(policy: profile.policy, context: known, families: [.ipv4, .ipv6], seed: seed)
        context.observeHostNetworks { [weak handle] in handle?.noteNetworks() }
    }

    func start(now: Instant) {
        // Nothing is sent and nothing accepted until there are settings that say so.
        use([])
        machine.start(now: now)
        outputs.append(.connect(profile.gateway.publicKey))
        act(now)
    }

    func handleMessage(_ message: [UInt8], from peer: PublicKey, now: Instant) {
        guard peer == profile.gateway.publicKey else { return }
        machine.handleMessage(message, now: now)
        act(now)
    }

    func sessionUp(_ peer: PublicKey, now: Instant) {
        guard peer == profile.gateway.publicKey else { return }
        machine.sessionUp(now: now)
        act(now)
    }

    func sessionLost(_ peer: PublicKey, now: Instant) {
        guard peer == profile.gateway.publicKey else { return }
        machine.sessionLost(now: now)
        act(now)
    }

    func handleWake(now: Instant) {
        let mail = handle.mailbox.withLock { mailbox in
            defer {
                mailbox.outcomes.removeAll()
                mailbox.hasNewNetworks = false
            }
            return mailbox
        }
        for outcome in mail.outcomes {
            let succeeded = outcome.refusal == nil
            refusal = outcome.refusal ?? refusal
            narrow(succeeded)
            machine.handleApplied(outcome.id, succeeded: succeeded, now: now)
            act(now)
        }
        if mail.hasNewNetworks {
            machine.setContext(profile.policyContext(context.hostNetworks, endpoint: endpoint), now: now)
            act(now)
        }
        guard mail.isStopping else { return }
        machine.stop(now: now)
        act(now)
    }

    var nextTimeout: Instant? { [machine.nextTimeout, leaveAt].compactMap(\.self).min() }

    func handleTimeout(now: Instant) {
        machine.handleTimeout(now: now)
        act(now)
        guard let leaveAt, leaveAt <= now else { return }
        self.leaveAt = nil
        context.cancelTunnelWithError(GatewayError.dismissed(gateway: profile.label))
    }

    func pollOutput() -> ControlPlaneOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    // MARK: What the machine wants

    private func act(_ now: Instant) {
        while let action = machine.pollAction() {
            switch action {
            case .send(let message): outputs.append(.send(message, to: profile.gateway.publicKey))
            case .apply(let id, let desired): apply(id, desired)
            case .startCompleted: handle.started.open(.success(()))
            case .startFailed(let failure):
                handle.started.open(.failure(GatewayError.start(failure, gateway: profile.label)))
            case .reasserting(let isReasserting): context.reasserting = isReasserting
            case .leave(let order): leave(order, now)
            case .released: handle.released.open(.success(()))
            case .note(let note): log(note)
            }
        }
        handle.account.withLock { account in
            account.applied = machine.applied
            account.lastOffer = machine.lastOffer
        }
    }

    private func apply(_ id: UInt64, _ desired: DesiredSettings) {
        inFlight = desired
        // Old and new sources both pass while the host changes over.
        use(allowedIPs + profile.allowedIPs(for: desired).filter { !allowedIPs.contains($0) })
        context.setTunnelNetworkSettings(profile.networkSettings(for: desired)) { [handle, context] error in
            if let error { context.log(.error, "The settings cannot be applied: \(error)") }
            handle.mailbox.withLock { $0.outcomes.append((id, error.map { TunnelFailure($0) })) }
            handle.waker.wake()
        }
    }

    /// Keeps the allowed IPs that go with the settings in force.
    private func narrow(_ succeeded: Bool) {
        guard let desired = inFlight else { return }
        inFlight = nil
        use(profile.allowedIPs(for: succeeded ? desired : machine.applied))
    }

    private func use(_ prefixes: [IPPrefix]) {
        allowedIPs = prefixes
        var peer = ControlSettings.Peer(profile.gateway.publicKey)
        peer.updatesOnly = true
        peer.replacesAllowedIPs = true
        peer.allowedIPs = prefixes.map { ControlSettings.AllowedIPChange(prefix: $0, isRemoval: false) }
        var settings = ControlSettings()
        settings.peers = [peer]
        outputs.append(.change(settings))
    }

    private func leave(_ order: GoAway, _ now: Instant) {
        context.log(.warning, "The gateway at \(profile.label) sends this client away: \(order.action).")
        if order.action == .stop { leaveAt = now + .seconds(UInt64(min(order.delaySeconds, 3600))) }
    }

    private func log(_ note: ClientNote) {
        switch note {
        case .unsupported:
            guard !hasToldUnsupported else { return }
            hasToldUnsupported = true
            context.log(.info, "The peer at \(profile.label) pushes no settings.")
        case .notGranted(let answer): context.log(.warning, "The gateway gives no settings: \(answer)")
        case .finished(let result):
            hasToldUnsupported = false
            let isInForce = result.status == .applied || result.status == .filtered
            handle.account.withLock { account in
                account.failure = isInForce ? nil : result
                account.refusal = isInForce ? nil : refusal
            }
            refusal = nil
            let reasons = result.findings.prefix(3).map { "\($0.reason)" }.joined(separator: "; ")
            context.log(
                isInForce ? .info : .warning,
                "Settings \(result.version.serial) of the gateway: \(result.status)"
                    + (reasons.isEmpty ? "" : " (\(reasons))"))
        case .staleSerial(let serial): context.log(.warning, "Settings \(serial) are older than those seen before.")
        case .serialConflict(let serial): context.log(.warning, "Settings \(serial) came with two contents.")
        case .heldBack: context.log(.warning, "The settings change too often; the next change waits.")
        case .leaseExpired: context.log(.warning, "The lease of the settings ended without an answer.")
        }
    }
}
