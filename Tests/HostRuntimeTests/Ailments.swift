import Control
import Netlink
import PacketPath
import ProviderKit
import SystemStore

@testable import HostRuntime

extension Ailment {
    /// Every finding that there is.
    static let all = device + capabilities + offloads + manager + store + network + conflicts + leftovers + clock

    /// Changes that are nothing to tell of.
    static let none: [@Sendable (inout MachineSnapshot) -> Void] = [
        // The manager makes interfaces for users without capabilities; what they cannot see is no fault.
        { $0.store = StoreInspection(.foreign(owner: 0)) },
        { $0.store = StoreInspection(.missing) },
        // A rule about some program's own packets, one of a VRF, and one that leads to the main table.
        { $0.addRule(5210, mark: 0x80000, .unreachable) },
        { $0.addRule(1000, .lookup(0)) },
        { $0.addRule(32_764, .lookup(254)) },
        // Our own tunnel, routed by its user into the main table, and its rule.
        { $0.addLink("phtun0", kind: "tun", mtu: 1420, alias: "providerhost slot 3", table: 254) },
        { $0.addRule(5436, by: 2, .lookup(54_006)) },
        {
            $0.services = [.networkManager]; $0.sparingServices = [.networkManager]
        },
    ]

    private static let device: [Ailment] = [
        .init("tun", .error, "no device /dev/net/tun", run: "modprobe tun") { $0.device = .refused(errno: 2) },
        .init("tun", .error, "may not open", run: "chmod") { $0.device = .refused(errno: 13) },
        .init("tun", .error, "although CAP_NET_ADMIN is there", run: "--device") { $0.device = .refused(errno: 1) },
        .init("tun", .error, "error 12", run: "dmesg") { $0.device = .refused(errno: 12) },
    ]

    private static let capabilities: [Ailment] = [
        .init("capabilities", .note, "run by the manager", run: "providerhost start") {
            $0.mayAdministerNetwork = false
            $0.device = .refused(errno: 1)
            $0.user = 1000
        }
    ]

    private static let offloads: [Ailment] = [
        .init("offloads", .warning, "TSO of TUN", run: "uname") { $0.device = .usable([.checksum, .uso4, .uso6]) },
        .init("offloads", .note, "USO of TUN", run: "uname") { $0.device = .usable([.checksum, .tso4, .tso6]) },
        .init("offloads", .warning, "UDP GSO", run: "uname") { $0.socketOffloads?.segmentation = false },
        .init("offloads", .warning, "UDP GRO", run: "uname") { $0.socketOffloads?.receive = false },
        .init("offloads", .error, "No UDP socket", run: "ip ") { $0.socketOffloads = nil },
        .init("offloads", .note, "PROVIDERHOST_NO_UDP_GSO", run: "unset PROVIDERHOST_NO_UDP_GSO") {
            $0.switches = ["PROVIDERHOST_NO_UDP_GSO"]
        },
    ]

    private static let manager: [Ailment] = [
        .init("manager", .note, "No manager listens in /run/providerhost", run: "providerhost daemon") {
            $0.fail(.noManager)
        },
        .init("manager", .error, "the entitlement", run: "usermod -aG providerhost \"$(id -un 1000)\"") {
            $0.user = 1000
            $0.fail(.notPermitted, "User 1000 lacks the permission to read here, the entitlement.")
        },
        .init("manager", .error, "may not connect", run: "chmod 755 /run/providerhost") { $0.fail(.noAccess) },
        .init("manager", .error, "did not answer", run: "journalctl") { $0.fail(.timeout) },
        .init("manager", .error, "version 2, this program 1", run: "restart") { $0.manager = .success("2") },
    ]

    private static let store: [Ailment] = [
        .init("store", .error, "Others may write", run: "install -d -m 700") {
            $0.store = StoreInspection(.unusable(StoreError(.folderUnusable, cause: "Others may write the folder.")))
        },
        .init("store", .error, "later version", run: "providerhost version") {
            $0.store = StoreInspection(.unusable(StoreError(.newerVersion)))
        },
        .init("store", .error, "damaged", run: "cp -a /var/lib/providerhost") {
            $0.store = StoreInspection(.unusable(StoreError(.damaged)))
        },
        .init("store", .error, "cannot be opened", run: "ls -la") {
            $0.store = StoreInspection(.unusable(StoreError(.unreadable)))
        },
        .init("store", .warning, "set aside as /s.damaged-1", run: "sqlite3 /s.damaged-1 .recover") {
            $0.store = StoreInspection(.sound(version: 1), setAside: ["/s.damaged-1"])
        },
        .init("store", .error, "device.key is missing", run: "keychain add") {
            $0.store = StoreInspection(.sound(version: 1), isKeyMissing: true)
        },
    ]

    private static let network: [Ailment] = [
        .init("dns", .error, "reach systemd-resolved", run: "restart systemd-resolved") {
            $0.resolver = .broken(reason: "reach systemd-resolved: timeout")
        },
        .init("dns", .note, "no resolv.conf of its own", run: "/etc/netns/") {
            $0.resolver = .absent(reason: "this network namespace has no resolv.conf of its own")
        },
        .init("dns", .error, "cannot be replaced", run: "findmnt") {
            $0.resolver = .readOnly(file: "/etc/resolv.conf")
        },
        .init("dns", .warning, "NetworkManager writes /etc/resolv.conf too", run: "systemd-resolved") {
            $0.resolver = .usable(name: "/etc/resolv.conf")
            $0.services = [.networkManager]
            $0.sparingServices = [.networkManager]
        },
        .init("filter", .warning, "nft is missing", run: "apt-get install nftables") { $0.filter = .programMissing },
        .init("filter", .warning, "`nft` failed", run: "modprobe nf_tables") {
            $0.filter = .refused(cause: "`nft` failed.")
        },
        .init("underlay", .note, "no default route", run: "ip route") { $0.changeNetwork { $0.routes = [] } },
        .init("underlay", .note, "Set MTU = 1412", run: "profile edit") {
            $0.changeNetwork { $0.links[1].mtu = 1492 }
        },
        .init("underlay", .warning, "too few for IPv6", run: "mtu 1500") {
            $0.changeNetwork { $0.links[1].mtu = 1280 }
        },
        .init("underlay", .warning, "leads into wg0", run: "dev wg0") {
            $0.addLink("wg0", kind: "wireguard", mtu: 1420, table: 254)
        },
        // OpenVPN's two halves of the default route.
        .init("underlay", .warning, "leads into tun0", run: "dev tun0") {
            $0.addLink("tun0", kind: "tun", table: 254, length: 1)
        },
    ]

    private static let conflicts: [Ailment] = [
        .init("rules", .warning, "Tailscale's rule", run: "tailscale down") { $0.addRule(5270, .lookup(52)) },
        .init("rules", .warning, "strongSwan's rule", run: "swanctl") { $0.addRule(220, .lookup(220)) },
        .init("rules", .note, "Mullvad's rule", run: "mullvad") { $0.addRule(32_765, mark: 1, .lookup(0x6d6f_6c65)) },
        .init("rules", .warning, "NordVPN's rule", run: "nordvpn") { $0.addRule(100, .lookup(205)) },
        .init("rules", .note, "wg-quick's rule", run: "wg-quick down office") {
            $0.addLink("office", kind: "wireguard", table: 51_820)
            $0.addRule(32_765, mark: 51_820, .lookup(51_820))
        },
        .init("rules", .warning, "decides before those of tunnels", run: "ip rule") { $0.addRule(10, .lookup(2004)) },
        .init("rules", .warning, "stands among those of tunnels", run: "ip rule") { $0.addRule(5406, .lookup(77)) },
        .init("rules", .warning, "5000: unreachable", run: "ip rule") { $0.addRule(5000, .unreachable) },
        .init("services", .note, "leave the interfaces phtun* alone", run: "/etc/NetworkManager/conf.d") {
            $0.services = [.networkManager]
        },
        .init("services", .warning, "systemd-networkd", run: "ManageForeignRoutes=no") { $0.services = [.networkd] },
        .init("services", .note, "firewalld", run: "firewall-cmd") { $0.services = [.firewalld] },
    ]

    private static let leftovers: [Ailment] = [
        .init("leftovers", .warning, "left 2 rules", run: "providerhost sweep") {
            $0.leftovers = .success(LeftoverSweep(rehearsed: [.init(.rule, "a"), .init(.rule, "b")]))
        },
        .init("leftovers", .error, "inet providerhost_guard_phtun0, which holds packets back", run: "sweep") {
            $0.leftovers = .success(
                LeftoverSweep(rehearsed: [.init(.filterTable, "inet providerhost_guard_phtun0")]))
        },
        .init("leftovers", .warning, "DNS of phtun1", run: "sweep") {
            $0.leftovers = .success(LeftoverSweep(rehearsed: [.init(.resolver, "phtun1")]))
        },
        .init("leftovers", .warning, "cannot be looked for: No memory.", run: "sweep") {
            $0.leftovers = .failure(TunnelFailure(errorDomain: "d", errorCode: 1, cause: "No memory.", remedy: ""))
        },
        .init("leftovers", .warning, "The filter cannot be read", run: "sweep") {
            $0.leftovers = .success(LeftoverSweep(rehearsed: [], failures: ["The filter cannot be read."]))
        },
    ]

    private static let clock: [Ailment] = [
        .init("clock", .error, "never set", run: "timedatectl") {
            $0.now = 12
            $0.store = StoreInspection(.missing)
        },
        .init("clock", .error, "8000000000", run: "timedatectl") { $0.now = 8_000_000_000 },
        .init("clock", .warning, "went back", run: "timedatectl") { $0.now -= 86_400 },
        .init("clock", .warning, "two years ahead", run: "timedatectl") { $0.now += 3 * 31_556_952 },
    ]
}

extension LeftoverSweep.Item {
    fileprivate init(_ kind: Kind, _ name: String) { self.init(kind: kind, name: name) }
}
