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
        #expect(interface("0800 0300 04000000 0600 3400 0000 0000") == WirelessInterface(index: 4, ssid: nil))
        #expect(interface("0a00 3400 6f6666696365 0000") == nil)
        #expect(interface("0800 0300 04") == nil)
    }

    /// What is read of a station heard, with its attributes NL80211_BSS_STATUS and NL80211_BSS_INFORMATION_ELEMENTS.
    private func joined(status: String, elements: String) -> String? {
        let station = "0a00 0100 020000000000 0000" + elements + status
        let length = String(hex(station).count + 4, radix: 16)
        return WirelessInterface.joinedNetwork(
            Attributes(bytes: hex("0800 0300 04000000 \(length)00 2f80" + station)[...]))
    }

    @Test("Of the stations heard, the one that was joined names the network")
    func stations() {
        let associated = "0800 0900 01000000"
        let office = "1200 0600 0104 82848b96 0006 6f6666696365 0000"
        #expect(joined(status: associated, elements: office) == "office")
        #expect(joined(status: "0800 0900 02000000", elements: office) == "office")
        // Authenticated only, or nothing to us.
        #expect(joined(status: "0800 0900 00000000", elements: office) == nil)
        #expect(joined(status: "", elements: office) == nil)
    }

    @Test("A name that is hidden, cut short or not there is none")
    func elements() {
        let associated = "0800 0900 01000000"
        for elements in [
            "0600 0600 0000 0000", "0800 0600 0002 0000", "0800 0600 0006 6f66", "0500 0600 00 000000", "",
        ] {
            #expect(joined(status: associated, elements: elements) == nil, "\(elements)")
        }
        let long = String(repeating: "61", count: 32)
        #expect(
            joined(status: associated, elements: "2600 0600 0020 \(long) 0000") == String(repeating: "a", count: 32))
    }

    @Test("A machine without Wi-Fi answers with none")
    func machine() throws {
        for interface in try WirelessInterface.all() { #expect(interface.index > 0) }
    }
}
