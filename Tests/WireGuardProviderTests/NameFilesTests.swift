import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("The machine's files of names and name servers")
struct NameFilesTests {
    @Test("Outside servers first, those inside of the tunnel never, at most four")
    func files() throws {
        func addresses(_ texts: String...) throws -> [IPAddress] { try texts.map { try #require(IPAddress($0)) } }
        var files = NameFiles(
            hosts: "127.0.0.1 localhost\n192.0.2.9\tGW.example gw # the gateway\n2001:db8::9 gw.example\n",
            current: "# x\nsearch a\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\nnameserver\n")
        #expect(try files.servers(except: []) == addresses("127.0.0.53"))
        files.uplink = "nameserver 192.0.2.1\nnameserver 10.7.0.1\n"
        #expect(try files.servers(except: addresses("10.7.0.1")) == addresses("192.0.2.1", "127.0.0.53"))
        files.kept = "nameserver 198.51.100.1\nnameserver\t198.51.100.1\n"
        #expect(try files.servers(except: []) == addresses("198.51.100.1", "192.0.2.1", "10.7.0.1"))
        files.kept = (1...9).map { "nameserver 198.51.100.\($0)" }.joined(separator: "\n")
        #expect(files.servers(except: []).count == 4)
        #expect(try files.addresses(of: "gw.EXAMPLE") == addresses("192.0.2.9", "2001:db8::9"))
        #expect(files.addresses(of: "the") == [] && files.addresses(of: "192.0.2.9") == [])
    }
}
