import Testing
import WireGuard

@testable import SettingsPush

/// The snapshot, keys and version that several suites speak of; the vectors of Docs/settings-push.md are made of them.
enum Examples {
    static let epoch: UInt128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff

    static func prefixes(_ texts: String...) throws -> [IPPrefix] { try texts.map { try #require(IPPrefix($0)) } }

    static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    static func assigned(_ text: String) throws -> AssignedAddress {
        let prefix = try #require(IPPrefix(text))
        return try #require(
            AssignedAddress(try address(String(text.prefix { $0 != "/" })), prefixLength: prefix.length))
    }

    static func name(_ text: String) throws -> DomainName { try #require(DomainName(text)) }

    /// One of everything.
    static func snapshot() throws -> Snapshot {
        try Snapshot(
            addresses: [assigned("10.66.0.2/16"), assigned("fd66::2/64")],
            routes: prefixes("10.0.0.0/8", "172.16.0.0/12", "fd00::/8"),
            excludes: prefixes("10.1.2.0/24"),
            dns: DNSOffer(
                mode: .split, servers: [DNSServer(address: address("10.66.0.1"))],
                searchDomains: [name("corp.example")], matchDomains: [name("lab.example"), name("corp.example")]),
            mtu: 1380, notice: "Maintenance on Sunday – 22:00")
    }

    /// A snapshot with as many routes as asked for.
    static func snapshot(routes: Int) throws -> Snapshot {
        try Snapshot(
            addresses: [assigned("10.66.0.2/32")],
            routes: (0..<routes).map { try #require(IPPrefix(.v4(10 << 24 | UInt32($0) << 8), length: 24)) },
            excludes: [], dns: nil, mtu: nil, notice: nil)
    }
}

/// Bytes as hexadecimal digits.
func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Hexadecimal digits as bytes; spaces and line ends do not count.
func bytes(hex text: String) throws -> [UInt8] {
    let digits = Array(text.filter { !$0.isWhitespace })
    return try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(digits[$0...].prefix(2)), radix: 16))
    }
}

/// What a closure throws of the codec's errors.
func finding(_ body: () throws -> Void) throws -> SettingsFinding {
    do { try body() } catch let finding as SettingsFinding { return finding }
    throw NothingThrown()
}

struct NothingThrown: Error {}
