import Testing
import WireGuard

@testable import Benchmarks

@Suite struct CrowdTests {
    @Test func `every peer has a key and an address of its own, and they are the same each time`() throws {
        let interface = "[Interface]\nPrivateKey = \(CountingRandom().first(1).base64)\n"
        let peers = try Configuration(wgQuick: interface + Crowd(count: 300).sections).peers
        #expect(Set(peers.map(\.publicKey)).count == 300 && Set(peers.flatMap(\.allowedIPs)).count == 300)
        #expect(
            peers.compactMap(\.allowedIPs.first).map(\.description)
                == (0..<300).map { "10.16.\($0 / 256).\($0 % 256)/32" })
        #expect(Crowd(count: 300).sections == Crowd(count: 300).sections)
    }

    @Test(arguments: [["crowd"], ["crowd", "/nonexistent", "3"], ["tunnel", "--peers", "0"]])
    func `wrong arguments are told`(arguments: [String]) {
        #expect(CommandLineTool.run(arguments) == 2)
    }
}
