import Foundation
import HostRuntime
import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Arguments of run")
struct RunRequestTests {
    private func request(_ arguments: String...) throws -> RunRequest {
        try RunRequest(ArgumentParser.parse(["run", "--bundle-id", "com.example.tunnel"] + arguments))
    }

    @Test("Defaults")
    func defaults() throws {
        let request = try request()
        #expect(request.bundleIdentifier == "com.example.tunnel")
        #expect(request.configurationPath == nil && request.interfaceName == nil)
        #expect(request.logLevel == .info)
        #expect(!request.allowsHooks && !request.wantsJSON)
    }

    @Test("Every option")
    func everyOption() throws {
        let request = try request(
            "--config", "a.conf", "--interface=wg0", "--log-level", "debug", "--json", "--allow-hooks")
        #expect(request.configurationPath == "a.conf" && request.interfaceName == "wg0")
        #expect(request.logLevel == .debug && request.allowsHooks && request.wantsJSON)
    }

    @Test("A kill switch is handed on to the session and the provider")
    func killSwitch() throws {
        #expect(try !request().protocolConfiguration(from: nil).includeAllNetworks)
        let all = try request("--include-all-networks", "--exclude-local-networks").protocolConfiguration(from: nil)
        #expect(all.includeAllNetworks && all.excludeLocalNetworks && !all.enforceRoutes)
        let routes = try request("--enforce-routes").protocolConfiguration(from: nil)
        #expect(!routes.includeAllNetworks && !routes.excludeLocalNetworks && routes.enforceRoutes)
    }

    @Test(
        "Parts of a kill switch that would have no effect are refused by name",
        arguments: [["--exclude-local-networks"], ["--include-all-networks", "--enforce-routes"]])
    func badKillSwitch(_ arguments: [String]) throws {
        let parsed = try ArgumentParser.parse(["run", "--bundle-id", "com.example.tunnel"] + arguments)
        let error = try #require(throws: UsageError.self) { try RunRequest(parsed) }
        #expect(error.code == .invalidValue && error.cause.contains(arguments[arguments.count - 1]))
    }

    @Test("Isolation and address translation are handed on to the session")
    func isolation() throws {
        #expect(try request().isolation == .none)
        let plain = try request("--isolation=none").protocolConfiguration(from: nil).providerConfiguration
        #expect(plain[TunnelProviderProtocol.isolationKey] == nil && plain[TunnelProviderProtocol.masqueradeKey] == nil)
        let values = try request("--isolation=namespace").protocolConfiguration(from: nil).providerConfiguration
        #expect(values[TunnelProviderProtocol.isolationKey] == "namespace")
        let gateway = try request("--masquerade").protocolConfiguration(from: nil).providerConfiguration
        #expect(gateway[TunnelProviderProtocol.masqueradeKey] == true)
    }

    @Test(
        "What has no effect in a namespace is refused by name, and so is an isolation that there is not",
        arguments: [
            ["--include-all-networks"], ["--enforce-routes"], ["--masquerade"], ["--dns=file"], ["--isolation=jail"],
        ])
    func badIsolation(_ arguments: [String]) throws {
        let isolation = arguments[0].hasPrefix("--isolation") ? [] : ["--isolation=namespace"]
        let parsed = try ArgumentParser.parse(["run", "--bundle-id", "com.example.tunnel"] + isolation + arguments)
        let error = try #require(throws: UsageError.self) { try RunRequest(parsed) }
        let name = arguments[0] == "--isolation=jail" ? "jail" : String(arguments[0].prefix { $0 != "=" })
        #expect(error.code == .invalidValue && error.cause.contains(name))
    }

    @Test(
        "Names of interfaces that are accepted", arguments: ["a", "phtun0", "wg_0=+.-", "abcdefghijklmno", "...", "7"])
    func interfaceName(_ name: String) throws { #expect(try request("--interface=\(name)").interfaceName == name) }

    @Test(
        "Names of interfaces that are refused",
        arguments: ["abcdefghijklmnop", ".", "..", "a/b", "a b", "a:b", "ü", "a\n", "a%d", "a\0"])
    func badInterfaceName(_ name: String) throws {
        let error = try #require(throws: UsageError.self) { try request("--interface=\(name)") }
        #expect(error.code == .invalidValue)
        #expect(error.remedy.contains("--interface"))
    }

    @Test("A log level that does not exist names those that do")
    func badLogLevel() throws {
        let error = try #require(throws: UsageError.self) { try request("--log-level=loud") }
        #expect(error.description.contains("loud") && error.description.contains("error, warning, info, debug"))
    }

    @Test("A file does not grant itself the right to run commands, nor to forward")
    func hooks() throws {
        let path = NSTemporaryDirectory() + "phconfig-\(UUID().uuidString).json"
        try Data(#"{"AllowHooks":true,"Masquerade":true,"Server":"a"}"#.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try ConfigurationFile(path: path)
        let key = TunnelProviderProtocol.allowHooksKey
        #expect(
            try request().protocolConfiguration(from: file).providerConfiguration == ["Server": "a", key: false])
        #expect(try request("--allow-hooks").protocolConfiguration(from: nil).providerConfiguration == [key: true])
    }
}
