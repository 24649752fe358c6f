import Foundation
import GatewayRegistry
import HostRuntime
import ProviderKit
import Testing

@testable import ProviderHost

@Suite("Command line")
struct CommandLineToolTests {
    @Test("A usage error is one line with cause and remedy, and exit status 2")
    func usage() throws {
        let capture = Capture()
        #expect(capture.run("rnu") == .usage)
        #expect(capture.errors == "providerhost: There is no verb `rnu`. Did you mean `run`?\n")
        #expect(capture.output.isEmpty)
    }

    @Test("With --json the error is an object as well")
    func jsonError() throws {
        let capture = Capture()
        #expect(capture.run("run", "--json") == .usage)
        let object = try #require(try capture.objects().first)
        #expect(Set(object.keys) == ["schema", "event", "status", "interface", "error"])
        #expect(object["schema"] as? Int == 1)
        #expect(object["event"] as? String == "error")
        #expect(object["status"] is NSNull && object["interface"] is NSNull)
        let error = try #require(object["error"] as? [String: Any])
        #expect(error["domain"] as? String == "ProviderHostUsageErrorDomain")
        #expect(error["code"] as? Int == UsageErrorCode.missingOption.rawValue)
        #expect((error["cause"] as? String)?.contains("--bundle-id") == true)
        #expect((error["remedy"] as? String)?.isEmpty == false)
        #expect(capture.errors.split(separator: "\n").count == 1)
    }

    @Test("A line of run has all its keys")
    func statusReport() throws {
        let capture = Capture()
        capture.console.print(json: Report(event: "status", status: .connected, interface: "phtun0"))
        #expect(
            capture.output
                == #"{"error":null,"event":"status","interface":"phtun0","schema":1,"status":"connected"}"# + "\n")
    }

    @Test("An unknown bundle ends with status 10 and names what was asked for")
    func unknownBundle() {
        let capture = Capture()
        #expect(capture.run("run", "--bundle-id", "org.providerhost.wiregaurd") == .notFound)
        #expect(capture.errors.contains("org.providerhost.wiregaurd"))
        #expect(capture.errors.contains("org.providerhost.wireguard"))
    }

    @Test("A configuration file that is missing ends with status 10, one that is a folder with 4")
    func configurationFiles() {
        let capture = Capture()
        let bundle = "org.providerhost.loopback"
        #expect(capture.run("run", "--bundle-id", bundle, "--config", "/nonexistent.conf") == .notFound)
        #expect(capture.errors.contains("/nonexistent.conf"))
        #expect(capture.run("run", "--bundle-id", bundle, "--config", "/tmp") == .startFailed)
    }

    @Test("The bundles of the build are listed")
    func bundles() throws {
        let text = Capture()
        #expect(text.run("bundles") == .success)
        #expect(text.output.contains("org.providerhost.loopback 0.1 /"))
        let json = Capture()
        #expect(json.run("bundles", "--json") == .success)
        let object = try #require(try json.objects().first)
        #expect(object["schema"] as? Int == 1)
        let bundles = try #require(object["bundles"] as? [[String: Any]])
        let loopback = try #require(bundles.first { $0["identifier"] as? String == "org.providerhost.loopback" })
        #expect((loopback["executable"] as? String)?.hasSuffix("/libLoopbackProvider.so") == true)
        #expect(object["refused"] is [Any])
    }

    @Test("The version tells the stamp")
    func version() throws {
        let text = Capture()
        #expect(text.run("--version") == .success)
        #expect(text.output.hasPrefix("providerhost ") && text.output.contains(ProviderModule.stamp))
        let json = Capture()
        #expect(json.run("version", "--json") == .success)
        #expect(try json.objects().first?["contractVersion"] as? String == ProviderModule.contractVersion)
    }

    @Test("Help names every verb but the hidden one, and every option of a verb", arguments: CommandTable.all)
    func help(_ command: Command) {
        let overview = Capture()
        #expect(overview.run("--help") == .success)
        #expect(overview.output.contains("  \(command.words[0]) ") == !command.isHidden)
        let verb = Capture()
        #expect(verb.run("help", command.name) == .success)
        #expect(verb.output.hasPrefix("Usage: providerhost \(command.name)"))
        for option in command.options { #expect(verb.output.contains("--\(option.name)")) }
        let asked = Capture()
        #expect(asked.run(command.name, "--help") == .success)
        #expect(command.name == "help" || asked.output == verb.output)
    }

    @Test("Help for a verb that does not exist is a usage error")
    func unknownHelp() {
        let capture = Capture()
        #expect(capture.run("help", "bundels") == .usage)
        #expect(capture.errors.contains("`bundles`"))
    }

    @Test(
        "A worker takes a descriptor beyond the standard streams only",
        arguments: ["2", "-1", "x", "3x", "99999999999"])
    func workerChannel(_ descriptor: String) {
        let capture = Capture()
        #expect(capture.run("worker", "--channel-fd=\(descriptor)") == .usage)
        #expect(capture.errors.contains("`\(descriptor)`"))
    }

    @Test("Errors end with the status of their kind")
    func exitCodeOfErrors() {
        func code(_ error: any Error) -> ExitCode { ExitCode(for: TunnelFailure(error)) }
        #expect(code(UsageError(.unknownVerb)) == .usage)
        #expect(code(BundleError(.unknownIdentifier)) == .notFound)
        #expect(code(BundleError(.contractVersionMismatch)) == .versionMismatch)
        #expect(code(BundleError(.writableByOthers)) == .startFailed)
        #expect(code(ConfigurationFileError(.notFound)) == .notFound)
        #expect(code(ConfigurationFileError(.tooLarge)) == .startFailed)
        #expect(code(VPNConnectionError(.pluginFailed)) == .startFailed)
        #expect(code(NewProviderError(.writeFailed)) == .unknown)
        #expect(code(RegistryError(.notInitialized)) == .notFound)
        #expect(code(RegistryError(.overlap)) == .usage)
        #expect(code(RegistryError(.poolExhausted)) == .unknown)
        #expect(code(CancellationError()) == .unknown)
    }

    @Test("Exit codes are those of nmcli")
    func exitCodes() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 8, 9, 10])
    }
}

extension Command: CustomTestStringConvertible {
    public var testDescription: String { name }
}
