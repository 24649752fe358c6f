import OnDemand
import ProviderKit

/// Networks that tests move between.
enum Networks {
    static func interface(
        _ name: String = "eth0", _ kind: NetworkInterface.Kind = .ethernet, ssid: String? = nil,
        networks: Set<String> = ["192.0.2.0/24"], metric: UInt32? = 100
    ) -> NetworkInterface {
        var interface = NetworkInterface(name: name, kind: kind)
        interface.isRunning = true
        interface.ssid = ssid
        interface.networks = networks
        if let metric { interface.defaultRoutes = [.init(gateway: "192.0.2.254", metric: metric)] }
        return interface
    }

    static func snapshot(
        _ interfaces: [NetworkInterface], dns: [String] = [], search: [String] = []
    ) -> NetworkSnapshot {
        NetworkSnapshot(interfaces: interfaces, dnsServers: dns, searchDomains: search)
    }

    static let none = snapshot([])
    static let office = snapshot([interface()], dns: ["192.0.2.53"], search: ["Office.Example."])
    static let home = snapshot(
        [interface("wlan0", .wiFi, ssid: "home", networks: ["198.51.100.0/24"])], dns: ["198.51.100.1"])
    static let train = snapshot(
        [interface("wlan0", .wiFi, ssid: "train", networks: ["203.0.113.0/24"])], dns: ["203.0.113.1"])
    static let phone = snapshot([interface("wwan0", .cellular)])
}

/// Rules that tests are made of.
enum Rules {
    static let connect = OnDemandRule(.connect)
    static let disconnect = OnDemandRule(.disconnect)
    static let ignore = OnDemandRule(.ignore)

    static func rule(_ action: OnDemandRuleAction, _ change: (inout OnDemandRule) -> Void) -> OnDemandRule {
        var rule = OnDemandRule(action)
        change(&rule)
        return rule
    }
}
