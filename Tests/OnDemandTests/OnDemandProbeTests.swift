import OnDemand
import ProviderKit
import Testing

@Suite("Probes of on-demand rules")
struct OnDemandProbeTests {
    private static let url = "http://probe.example/"
    private static let other = "http://other.example/"
    private let rules = [Rules.rule(.disconnect) { $0.probeURL = Self.url }, Rules.connect]

    @Test("The former decision stays until the answer is there")
    func waiting() {
        let rig = OnDemandRig(rules, in: Networks.office)
        #expect(rig.take() == [.probe(Self.url, interface: "eth0")] && rig.machine.decision == nil)
        rig.send(.probed(Self.url, isReachable: false))
        #expect(rig.take() == [.start])
        rig.connect()
        rig.send(.network(Networks.home))
        #expect(rig.take() == [.probe(Self.url, interface: "wlan0")])
        #expect(rig.machine.decision?.network == Networks.office)
        rig.send(.probed(Self.url, isReachable: true))
        #expect(rig.take() == [.stop])
        #expect(rig.machine.decision?.network == Networks.home)
    }

    @Test("A session that ends meanwhile is not started on the strength of the former decision")
    func endedMeanwhile() {
        let rig = OnDemandRig(rules, in: Networks.office)
        rig.send(.probed(Self.url, isReachable: false))
        rig.connect()
        rig.send(.network(Networks.home))
        _ = rig.take()
        rig.send(.sessionEnded(wasRequested: true))
        #expect(rig.take() == [])
        rig.send(.probed(Self.url, isReachable: false))
        #expect(rig.take() == [.start])
    }

    @Test("No answer in time is one that is not 200")
    func timeout() {
        let rig = OnDemandRig(rules, in: Networks.office)
        _ = rig.take()
        rig.advance(.seconds(9))
        #expect(rig.take() == [])
        rig.advance(.seconds(1))
        #expect(rig.take() == [.start])
    }

    @Test("Several are asked one after the other, each once in a network; answers of another network do not count")
    func several() {
        let rules = [
            Rules.rule(.disconnect) { $0.probeURL = Self.url }, Rules.rule(.ignore) { $0.probeURL = Self.other },
            Rules.rule(.disconnect) { $0.probeURL = Self.url }, Rules.connect,
        ]
        let rig = OnDemandRig(rules, in: Networks.office)
        #expect(rig.take() == [.probe(Self.url, interface: "eth0")])
        rig.send(.probed(Self.other, isReachable: true))
        #expect(rig.take() == [], "nobody asked")
        rig.send(.probed(Self.url, isReachable: false))
        #expect(rig.take() == [.probe(Self.other, interface: "eth0")])
        rig.send(.network(Networks.home))
        #expect(rig.take() == [.probe(Self.url, interface: "wlan0")])
        rig.send(.probed(Self.other, isReachable: true))
        #expect(rig.take() == [], "of the network before")
        rig.send(.probed(Self.url, isReachable: false))
        rig.send(.probed(Self.other, isReachable: false))
        #expect(rig.take() == [.probe(Self.other, interface: "wlan0"), .start])
    }
}
