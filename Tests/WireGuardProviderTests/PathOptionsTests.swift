import PacketPath
import ProviderKit
import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("Off switches of the packet path")
struct PathOptionsTests {
    private func options(
        file: String = "", values: [String: PropertyListValue] = [:], environment: [String: String] = [:]
    ) throws -> PathOptions {
        let key = PrivateKey(Key256(words: SIMD4(1, 2, 3, 4)))
        let configuration = try Configuration(wgQuick: "[Interface]\nPrivateKey = \(key.base64)\n\(file)")
        return try PathOptions(environment: { environment[$0] }, configuration, values)
    }

    @Test("Each is switched off by file, by text and by array alike", arguments: PathFeature.allCases)
    func eachAlone(feature: PathFeature) throws {
        var expected = PathOptions()
        switch feature {
        case .tunTSO: expected.tunTSO = false
        case .tunUSO: expected.tunUSO = false
        case .udpGSO: expected.udpGSO = false
        case .udpGRO: expected.udpGRO = false
        case .wideAEAD: expected.wideAEAD = false
        }
        #expect(try options(file: "# switch_off = \(feature.rawValue)") == expected)
        #expect(try options(values: ["switch_off": .string(feature.rawValue)]) == expected)
        #expect(try options(values: ["switch_off": .array([.string(feature.rawValue)])]) == expected)
    }

    @Test("What environment, file and values switch off adds up, and nothing is off by itself")
    func together() throws {
        #expect(try options() == PathOptions())
        let made = try options(
            file: "# switch_off = udp_gro", values: ["switch_off": "tun_uso, wide_aead"],
            environment: ["PROVIDERHOST_NO_TUN_TSO": "1"])
        var expected = PathOptions()
        expected.udpGRO = false
        expected.tunUSO = false
        expected.wideAEAD = false
        expected.tunTSO = false
        #expect(made == expected)
    }

    @Test("The values go before the file in the number of threads")
    func threads() throws {
        #expect(try options().threads == PathOptions.standardThreads)
        #expect(try options(file: "# threads = 3").threads == 3)
        #expect(try options(file: "# threads = 3", values: ["threads": 2]).threads == 2)
        for value in [0, 17, "two"] as [PropertyListValue] {
            #expect(throws: EngineError.self) { try options(values: ["threads": value]) }
        }
    }

    @Test(
        "A name that is none is refused with those that are",
        arguments: ["gro", 5, .array(["udp_gso", 1])] as [PropertyListValue])
    func unknown(value: PropertyListValue) throws {
        let error = try #require(throws: EngineError.self) { try options(values: ["switch_off": value]) }
        #expect(error.cause.contains("tun_tso, tun_uso, udp_gso, udp_gro, wide_aead"), "\(error.cause)")
    }
}
