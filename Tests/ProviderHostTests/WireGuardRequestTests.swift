import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Arguments of wireguard")
struct WireGuardRequestTests {
    private func request(_ arguments: [String], _ environment: [String: String] = [:]) throws -> WireGuardRequest {
        let arguments = WireGuardVerb.rewritten(arguments, program: "/usr/bin/wireguard-providerhost")
        return try WireGuardRequest(ArgumentParser.parse(arguments), environment: environment)
    }

    @Test("A link stands for the verb, and -f for --foreground; other names of the program do not")
    func link() {
        #expect(WireGuardVerb.rewritten(["wg0"], program: "wireguard-providerhost") == ["wireguard", "wg0"])
        #expect(
            WireGuardVerb.rewritten(["-f", "wg0"], program: "/x/wireguard-providerhost")
                == ["wireguard", "--foreground", "wg0"])
        #expect(WireGuardVerb.rewritten(["wireguard", "wg0", "-f"], program: "providerhost").last == "--foreground")
        #expect(WireGuardVerb.rewritten(["--version"], program: "wireguard-providerhost") == ["--version"])
        #expect(WireGuardVerb.rewritten(["run", "-f"], program: "providerhost") == ["run", "-f"])
    }

    @Test("The variables of wireguard-go")
    func variables() throws {
        let plain = try request(["wg0"])
        #expect(plain.interfaceName == "wg0" && !plain.isForeground && plain.device == nil && plain.listener == nil)
        #expect(plain.logLevel == .error && !plain.keepsOutput)
        #expect(try request(["-f", "wg0"]).isForeground)
        let full = try request(
            ["wg0"], ["WG_PROCESS_FOREGROUND": "1", "WG_TUN_FD": "3", "WG_UAPI_FD": "4", "LOG_LEVEL": "verbose"])
        #expect(full.isForeground && full.device == 3 && full.listener == 4)
        #expect(full.logLevel == .debug && full.keepsOutput)
        let silent = try request(["wg0"], ["LOG_LEVEL": "silent", "WG_PROCESS_FOREGROUND": "0", "WG_TUN_FD": ""])
        #expect(silent.logLevel == nil && !silent.keepsOutput && !silent.isForeground && silent.device == nil)
    }

    @Test("What is refused", arguments: [["wg0", "wg1"], [], ["a/b"], ["sixteen-letters-"], ["wg0", "--fast"]])
    func refused(arguments: [String]) {
        #expect(throws: UsageError.self) { try request(arguments) }
    }

    @Test("Descriptors that cannot be passed on", arguments: ["2", "-1", "x", "99999999999"])
    func descriptors(text: String) {
        #expect(throws: UsageError.self) { try request(["wg0"], ["WG_TUN_FD": text]) }
    }
}
