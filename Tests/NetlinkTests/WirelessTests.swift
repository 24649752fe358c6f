import Testing

@testable import Netlink

@Suite("Wi-Fi interfaces", .enabled(if: 1.littleEndian == 1, "written for little-endian machines"))
struct WirelessTests {
    private func interface(_ text: String) -> WirelessInterface? {
        WirelessInterface(Attributes(bytes: hex(text)[...]))
    }

    @Test("A connected interface names its network")
    func connected() {
        let text = """
            0800 0300 04000000              ; NL80211_ATTR_IFINDEX 4
            0a00 0400 776c616e3000 0000     ; NL80211_ATTR_IFNAME "wlan0"
            0800 0500 02000000              ; NL80211_ATTR_IFTYPE station
            0a00 3400 6f6666696365 0000     ; NL80211_ATTR_SSID "office"
            """
        #expect(interface(text) == WirelessInterface(index: 4, ssid: "office"))
    }

    @Test("One without a connection, or with a hidden name, names none; one without an index is none")
    func others() {
        #expect(interface("0800 0300 04000000") == WirelessInterface(index: 4, ssid: nil))
        #expect(interface("0800 0300 04000000 0400 3400") == WirelessInterface(index: 4, ssid: nil))
        #expect(interface("0a00 3400 6f6666696365 0000") == nil)
        #expect(interface("0800 0300 04") == nil)
    }

    @Test("A machine without Wi-Fi answers with none")
    func machine() throws {
        for interface in try WirelessInterface.all() { #expect(interface.index > 0) }
    }
}
