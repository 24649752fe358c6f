import Netlink
import Testing

@testable import NetworkSettings

@Suite("What routes cover")
struct PrefixCoverTests {
    @Test("ranges agree with the longest prefix for every address, on random prefixes")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            // Prefixes of 10.0.0.0/24 and the whole family, so that nesting, neighbours and the ends are common.
            func prefixes() throws -> [IPPrefix] {
                try (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    let length = [0, 24, 25, 26, 28, 30, 31, 32].randomElement(using: &generator) ?? 24
                    let address = IPAddress(ipv4: 0x0a00_0000 | UInt32.random(in: 0...255, using: &generator))
                    return try #require(IPPrefix(address, length: length))
                }
            }
            let (included, excluded) = (try prefixes(), try prefixes())
            let ranges = PrefixCover.ranges(included: included, excluded: excluded, .ipv4)
            let samples = (0...255).map { 0x0a00_0000 | UInt32($0) } + [0, 0x09ff_ffff, 0x0a00_0100, .max]
            for address in samples.map(IPAddress.init(ipv4:)) {
                let inside = included.filter { $0.contains(address) }.map(\.length).max() ?? -1
                let outside = excluded.filter { $0.contains(address) }.map(\.length).max() ?? -1
                #expect(ranges.contains { $0.contains(address) } == (inside > outside), "\(included) \(excluded)")
            }
            for (earlier, later) in zip(ranges, ranges.dropFirst()) {
                #expect(earlier.upperBound.bits &+ (1 << 96) < later.lowerBound.bits, "ranges touch")
            }
        }
    }

    @Test("the ends of the address space")
    func ends() throws {
        let all = try ["::/0", "ffff::/16", "8000::/1"].map { try #require(IPPrefix($0)) }
        let ranges = PrefixCover.ranges(included: [all[0]], excluded: [all[1]], .ipv6)
        #expect(ranges.map { "\($0)" } == ["::...fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"])
        #expect(
            PrefixCover.ranges(included: all, excluded: [], .ipv6).map { "\($0)" } == [
                "::...ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
            ])
        #expect(PrefixCover.ranges(included: all, excluded: [], .ipv4).isEmpty)
    }
}
