import OnDemand
import ProviderKit
import Testing

@Suite("On-demand rules at work")
struct OnDemandMachineTests {
    private let unlessHome = [Rules.rule(.disconnect) { $0.ssidMatch = ["home"] }, Rules.connect]

    @Test("Nothing is done before rules are in force and the network is known, in either order")
    func beginning() {
        let rig = OnDemandRig(nil, in: Networks.office)
        #expect(rig.take() == [] && rig.machine.decision == nil)
        rig.send(.configured([Rules.connect]))
        #expect(rig.take() == [.start])
        let other = OnDemandRig([Rules.connect])
        #expect(other.take() == [] && other.machine.decision == nil)
        other.send(.network(Networks.office))
        #expect(other.take() == [.start])
    }

    @Test("A connect rule starts once, a disconnect rule stops once, the others leave the session as it is")
    func actions() {
        let rig = OnDemandRig(unlessHome, in: Networks.train)
        #expect(rig.take() == [.start])
        rig.connect()
        rig.send(.network(Networks.office))
        #expect(rig.take() == [])
        rig.send(.network(Networks.home))
        #expect(rig.take() == [.stop])
        rig.send(.sessionEnded(wasRequested: true))
        #expect(rig.take() == [])
        rig.send(.network(Networks.train))
        #expect(rig.take() == [.start])
        for leaving in [Rules.ignore, Rules.rule(.evaluateConnection) { _ in }] {
            for isActive in [true, false] {
                let rig = OnDemandRig([leaving])
                if isActive { rig.connect() }
                rig.send(.network(Networks.office))
                #expect(rig.take() == [] && rig.machine.decision?.action == leaving.action)
            }
        }
    }

    @Test("The same network again is no change")
    func sameNetwork() {
        let rig = OnDemandRig([Rules.disconnect], in: Networks.office)
        rig.connect()
        rig.send(.network(Networks.office))
        #expect(rig.take() == [], "somebody started it, so it stays")
        rig.send(.network(Networks.home))
        #expect(rig.take() == [.stop])
    }

    @Test("No rule matches, no network, or another tunnel leads out: nothing is done, and it is said why")
    func nothing() {
        let wiFi = [Rules.rule(.connect) { $0.interfaceTypeMatch = .wiFi }]
        let tunnel = Networks.snapshot([Networks.interface("tun7", .virtual)])
        for (network, reason): (NetworkSnapshot, OnDemandDecision.Reason) in [
            (Networks.office, .noRule), (Networks.none, .noNetwork), (tunnel, .foreignTunnel),
        ] {
            for isActive in [true, false] {
                let rig = OnDemandRig(wiFi)
                if isActive { rig.connect() }
                rig.send(.network(network))
                #expect(rig.take() == [])
                #expect(rig.machine.decision?.reason == reason && rig.machine.decision?.network == network)
            }
        }
    }

    @Test("T14: a stop by somebody does not turn on-demand off: with connect-anywhere the session comes back at once")
    func userStop() {
        let rig = OnDemandRig([Rules.connect, Rules.disconnect], in: Networks.office)
        rig.connect()
        _ = rig.take()
        rig.send(.sessionEnded(wasRequested: true))
        #expect(rig.take() == [.start])
        // While it is connecting a stop wins, and what follows is a new session.
        rig.send(.sessionBegan)
        rig.send(.sessionEnded(wasRequested: true))
        #expect(rig.take() == [.start] && rig.machine.failures == 0)
    }

    @Test("Turned off and then stopped, as applications do it, the session stays down")
    func turnedOff() {
        let rig = OnDemandRig([Rules.connect], in: Networks.office)
        rig.connect()
        _ = rig.take()
        rig.send(.configured(nil))
        rig.send(.sessionEnded(wasRequested: true))
        rig.send(.network(Networks.home))
        rig.advance(.seconds(600))
        #expect(rig.take() == [] && rig.machine.decision == nil)
    }

    @Test("T14: a provider that fails at once is started again after 1, 2, 4 … 60 s")
    func backOff() {
        let rig = OnDemandRig([Rules.connect], in: Networks.office)
        #expect(rig.take() == [.start])
        for (index, delay) in [1, 2, 4, 8, 16, 32, 60, 60, 60].enumerated() {
            rig.send(.sessionBegan)
            rig.send(.sessionEnded(wasRequested: false))
            #expect(rig.machine.failures == index + 1)
            rig.advance(.milliseconds(delay * 1000 - 1))
            #expect(rig.take() == [], "\(delay) s")
            rig.advance(.milliseconds(1))
            #expect(rig.take() == [.start], "\(delay) s")
        }
    }

    @Test("A change of the network, a save and an unlocked keychain try again at once")
    func atOnce() {
        let rig = OnDemandRig([Rules.connect], in: Networks.office)
        for _ in 0..<6 {
            rig.send(.sessionEnded(wasRequested: false))
            rig.advance(.seconds(60))
        }
        _ = rig.take()
        for event: OnDemandEvent in [.configured([Rules.connect]), .mayRetry, .network(Networks.home)] {
            rig.send(.sessionEnded(wasRequested: false))
            #expect(rig.take() == [])
            rig.send(event)
            #expect(rig.take() == [.start])
            // Without a start that waits they start nothing.
            rig.send(event)
            #expect(rig.take() == [])
        }
        #expect(rig.machine.failures == 0, "another network begins anew")
    }

    @Test("A session that was up for a minute did not fail to start")
    func stability() {
        let rig = OnDemandRig([Rules.connect], in: Networks.office)
        for _ in 0..<5 { rig.send(.sessionEnded(wasRequested: false)) }
        #expect(rig.machine.failures == 5)
        rig.connect()
        rig.advance(.seconds(61))
        rig.send(.sessionEnded(wasRequested: false))
        #expect(rig.machine.failures == 1)
        rig.connect()
        rig.advance(.seconds(59))
        rig.send(.sessionEnded(wasRequested: false))
        #expect(rig.machine.failures == 2)
    }

    @Test("A start that waits is dropped when the network goes, or when it is one without a connect rule")
    func droppedRetry() {
        for network in [Networks.none, Networks.home] {
            let rig = OnDemandRig(unlessHome, in: Networks.train)
            rig.send(.sessionEnded(wasRequested: false))
            _ = rig.take()
            rig.send(.network(network))
            rig.advance(.seconds(600))
            #expect(rig.take() == [] && rig.machine.retryTime == nil)
        }
    }

    @Test("Somebody's start takes the place of one that waits")
    func startMeanwhile() {
        let rig = OnDemandRig([Rules.connect], in: Networks.office)
        rig.send(.sessionEnded(wasRequested: false))
        _ = rig.take()
        rig.connect()
        rig.advance(.seconds(600))
        #expect(rig.take() == [])
    }

    @Test("To connect while the session is being stopped waits for its end")
    func connectWhileStopping() {
        let rig = OnDemandRig(unlessHome, in: Networks.train)
        rig.connect()
        rig.send(.network(Networks.home))
        #expect(rig.take() == [.start, .stop])
        rig.send(.network(Networks.train))
        #expect(rig.take() == [])
        rig.send(.sessionEnded(wasRequested: true))
        #expect(rig.take() == [.start])
    }
}
