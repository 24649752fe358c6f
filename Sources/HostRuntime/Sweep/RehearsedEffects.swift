internal import Netlink
internal import NetworkSettings

/// The effects on a system that has none: it is asked, and every change counts as made.
struct RehearsedEffects: SettingsEffects {
    let system: SystemEffects

    func submit(_ requests: [Request]) -> [NetlinkError?] { requests.map { _ in nil } }
    func links() throws(NetlinkError) -> [Link] { try system.links() }
    func link(named name: String) throws(NetlinkError) -> Link { try system.link(named: name) }
    func link(index: UInt32) throws(NetlinkError) -> Link { try system.link(index: index) }
    func addresses(interface: UInt32) throws(NetlinkError) -> [InterfaceAddress] {
        try system.addresses(interface: interface)
    }
    func routes(table: UInt32?) throws(NetlinkError) -> [Route] { try system.routes(table: table) }
    func rules() throws(NetlinkError) -> [Rule] { try system.rules() }
    func sysctl(_ name: String) -> String? { system.sysctl(name) }
    func setSysctl(_ name: String, to value: String) throws(NetlinkError) {}
}
