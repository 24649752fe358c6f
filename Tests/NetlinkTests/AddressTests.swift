import Testing

@testable import Netlink

@Suite("Addresses and prefixes")
struct AddressTests {
    @Test(
        "text round trip",
        arguments: [
            ("10.0.0.1", "10.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("0.0.0.0", "0.0.0.0"), ("::", "::"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("fe80::1", "fe80::1"), ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
        ])
    func roundTrip(text: String, canonical: String) throws {
        #expect(try #require(IPAddress(text)).description == canonical)
    }

    @Test(
        "refused text",
        arguments: [
            "", "10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1 ", "10.0.0.1\0", "fe80::1%eth0", "[::1]", ":::",
            "a.b.c.d",
            "1.2.3.4:51820", String(repeating: "1:", count: 40),
        ])
    func refused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("bytes are in network order and left-aligned in bits")
    func bytes() throws {
        let four = try #require(IPAddress("192.0.2.1"))
        #expect(four.bytes == [192, 0, 2, 1])
        #expect(four.bits >> 96 == 0xc000_0201)
        #expect(IPAddress(family: .ipv4, bytes: [192, 0, 2, 1]) == four)
        #expect(IPAddress(family: .ipv6, bytes: [192, 0, 2, 1]) == nil)
        let six = try #require(IPAddress("2001:db8::ff"))
        #expect(IPAddress(family: .ipv6, bytes: six.bytes) == six)
    }

    @Test(
        "prefixes mask host bits",
        arguments: [
            ("10.1.2.3/8", "10.0.0.0/8"), ("10.1.2.3", "10.1.2.3/32"), ("1.2.3.4/0", "0.0.0.0/0"),
            ("2001:db8::1/32", "2001:db8::/32"), ("::1", "::1/128"), ("ffff::/1", "8000::/1"),
        ])
    func prefixText(text: String, canonical: String) throws {
        #expect(try #require(IPPrefix(text)).description == canonical)
    }

    @Test(
        "refused prefixes",
        arguments: ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/-1", "/8", "1.2.3.4/8/8", "::/0x8"])
    func refusedPrefix(text: String) {
        #expect(IPPrefix(text) == nil)
    }

    @Test("containment follows the leading bits")
    func containment() throws {
        let wide = try #require(IPPrefix("10.0.0.0/8"))
        let narrow = try #require(IPPrefix("10.255.0.0/16"))
        #expect(wide.contains(narrow) && !narrow.contains(wide) && wide.contains(wide))
        #expect(wide.contains(try #require(IPAddress("10.255.255.255"))))
        #expect(!wide.contains(try #require(IPAddress("11.0.0.0"))))
        #expect(!IPPrefix.everything(.ipv4).contains(try #require(IPAddress("::"))))
        #expect(IPPrefix.everything(.ipv6).contains(try #require(IPPrefix("ff00::/8"))))
    }
}
