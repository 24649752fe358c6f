import Glibc
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
        let copy = IPAddress(bytes: address.bytes)
        #expect(copy == address)
    }

    @Test("Bytes are an address by their number", arguments: [0, 3, 5, 15, 17])
    func addressBytes(count: Int) { #expect(IPAddress(bytes: Array(repeating: 1, count: count)) == nil) }

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

    /// What inet_pton(3) makes of a text.
    private func systemAddress(_ text: String) -> IPAddress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isV6 = text.contains(":")
        guard unsafe inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return isV6 ? .v6(value) : .v4(UInt32(truncatingIfNeeded: value >> 96))
    }

    @Test("Texts near to addresses are taken and refused as inet_pton does", arguments: 0..<8)
    func againstSystem(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let pieces = [
            "0", "1", "a", "F", "ff", "255", "256", "1234", "00", ":", ":", ":", "::", ".", ".", "1.2.3.4", "/",
        ]
        var taken = 0
        for _ in 0..<20_000 {
            let text = (0..<1 + random.below(16)).map { _ in pieces[random.below(pieces.count)] }.joined()
            let address = IPAddress(text)
            #expect(address == systemAddress(text), "\(text)")
            if address != nil { taken += 1 }
            let random128 = UInt128(random.next()) << 64 | UInt128(random.next() & random.next() & random.next())
            let mask = UInt128.max << (random.below(8) * 16)
            let printed = IPAddress.v6(random128 & mask).description
            #expect(IPAddress(printed) == systemAddress(printed) && IPAddress(printed) == .v6(random128 & mask))
        }
        #expect(taken > 20)
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
