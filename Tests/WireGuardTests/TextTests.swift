import Testing

@testable import WireGuard

@Suite("Text forms of keys, addresses and endpoints")
struct TextTests {
    @Test("Keys survive base64 and hex both ways", arguments: 0..<64)
    func keyRoundTrip(seed: Int) throws {
        var generator = SplitMix(seed: UInt64(seed))
        let key = generator.key()
        #expect(try #require(Key256(base64: key.base64)) == key)
        #expect(try #require(Key256(hex: key.hex)) == key)
        #expect(try #require(Key256(hex: key.hex.uppercased())) == key)
        #expect(try #require(Key256(bytes: key.bytes)) == key)
    }

    @Test(
        "Malformed keys are refused",
        arguments: [
            "", "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFk", "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFl=",
            "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVF==", "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL-M9dQXfopFVFk=",
            " KeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFk=", "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFk=\n",
        ])
    func badKey(text: String) {
        #expect(Key256(base64: text) == nil)
    }

    @Test("A private key is clamped and shown clamped")
    func clamping() throws {
        let key = try #require(
            PrivateKey(base64: "//////////////////////////////////////////8="))
        #expect(key.key.byte(at: 0) == 0xf8)
        #expect(key.key.byte(at: 31) == 0x7f)
        #expect(PrivateKey(.zero).key.byte(at: 31) == 0x40)
    }

    @Test(
        "Addresses parse and print canonically",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
            ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("::ffff:1.2.3.4", "::ffff:1.2.3.4"), ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("fe80:0:0:0:1:0:0:0", "fe80::1:0:0:0"),
        ])
    func address(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "Malformed addresses are refused",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.-4", ":", ":::", "1::2::3", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1.2.3", "1.2.3.4::", "1:2:3:4:5:6:7::8", "::+1", " ::1",
            "fe80::1%1",
            ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:",
        ])
    func badAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("Prefixes are masked, and their length is checked")
    func prefix() throws {
        #expect(try #require(IPPrefix("10.1.2.3/8")).description == "10.0.0.0/8")
        #expect(try #require(IPPrefix("10.1.2.3")).description == "10.1.2.3/32")
        #expect(try #require(IPPrefix("fd00::1/0")).description == "::/0")
        #expect(try #require(IPPrefix("0.0.0.0/0")).contains(.v4(.max)))
        for bad in ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "/8"] {
            #expect(IPPrefix(bad) == nil, "\(bad)")
        }
    }

    @Test(
        "Endpoints parse and print",
        arguments: ["1.2.3.4:51820", "[::1]:51820", "[fe80::1%3]:1", "[2001:db8::1]:65535", "0.0.0.0:0"])
    func endpoint(text: String) throws {
        #expect(try #require(Endpoint(text)).description == text)
    }

    @Test(
        "Malformed endpoints are refused",
        arguments: [
            "", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "::1:80", "[::1]", "[::1:80", "[1.2.3.4]:80", "host:80",
            "[fe80::1%eth0]:1",
        ])
    func badEndpoint(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test("An IPv4-mapped endpoint is the IPv4 endpoint")
    func mapped() throws {
        let mapped = try #require(Endpoint("[::ffff:1.2.3.4]:5"))
        #expect(mapped.description == "1.2.3.4:5")
    }
}
