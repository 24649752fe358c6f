import Foundation
import GatewayRegistry
import ProviderKit
import SettingsPush
import Testing
import WireGuard

@testable import ProviderHost

/// The verbs as a person uses them, each test with a state folder of its own.
@Suite("Gateway verbs")
final class GatewayVerbsTests {
    private let folder = NSTemporaryDirectory() + "phgwverbs-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ arguments: [String]) -> (code: ExitCode, capture: Capture) {
        let capture = Capture()
        let code = GatewayVerbs.$stateFolder.withValue(folder) {
            CommandLineTool.main(["gateway"] + arguments, console: capture.console)
        }
        return (code, capture)
    }

    /// Runs `providerhost gateway …` and requires its exit status.
    @discardableResult
    private func gateway(
        _ arguments: String..., expect code: ExitCode = .success, location: SourceLocation = #_sourceLocation
    ) -> Capture {
        gateway(arguments, expect: code, location: location)
    }

    @discardableResult
    private func gateway(
        _ arguments: [String], expect code: ExitCode = .success, location: SourceLocation = #_sourceLocation
    ) -> Capture {
        let (actual, capture) = run(arguments)
        #expect(actual == code, "\(arguments): \(capture.errors)", sourceLocation: location)
        return capture
    }

    private func makeGateway() {
        gateway(
            "init", "--listen-port", "51820", "--endpoint", "192.0.2.1:51820", "--pool", "10.7.0.0/24",
            "--pool=fd07::/64")
    }

    @Test("Without a gateway, every verb says how to make one")
    func missing() {
        for arguments in [["peer", "list"], ["route", "add", "10.0.0.0/8"], ["push"], ["export", "a"], ["show"]] {
            let (code, capture) = run(arguments)
            #expect(code == .notFound)
            #expect(capture.errors.contains("gateway init --listen-port"))
        }
    }

    @Test(
        "Address translation is stored by init, shown, and asked of every run of the gateway", arguments: [false, true])
    func masquerade(_ isWanted: Bool) throws {
        gateway(
            ["init", "--listen-port", "51820", "--endpoint", "192.0.2.1:51820", "--pool", "10.7.0.0/24"]
                + (isWanted ? ["--masquerade"] : []))
        #expect(gateway("show").output.contains("masquerade   \(isWanted ? "yes" : "no")"))
        #expect(try #require(try gateway("show", "--json").objects().first)["masquerade"] as? Bool == isWanted)
        for (bundle, isAsked) in [(GatewayRunVerb.bundleIdentifier, isWanted), ("org.providerhost.wireguard", false)] {
            let arguments = try ArgumentParser.parse(["run", "--bundle-id", bundle])
            let request = try GatewayVerbs.$stateFolder.withValue(folder) {
                try RunRequest(GatewayRunVerb.completed(arguments))
            }
            #expect(request.masquerades == isAsked, "\(bundle)")
        }
    }

    @Test("Wrong values of init make nothing")
    func wrongInit() {
        let right = ["--listen-port=1", "--endpoint=a.example:1", "--pool=10.7.0.0/24"]
        let wrong = [
            ["--listen-port=0"], ["--listen-port=65536"], ["--listen-port=+1"], ["--endpoint=a.example"],
            ["--endpoint=:1"], ["--endpoint=a b:1"], ["--endpoint=a.example:0"], ["--pool=10.7.0.1/24"],
            ["--pool=10.7.0.0/31"], ["--pool=10.7.0.0/24", "--pool=10.7.0.0/16"], ["--mtu=100"], ["--lease=59"],
        ]
        for arguments in wrong {
            let kept = right.filter { option in !arguments.contains { $0.hasPrefix(option.prefix { $0 != "=" }) } }
            let (code, capture) = run(["init"] + kept + arguments)
            #expect(code == .usage, "\(arguments): \(capture.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test("A peer's way: added, shown, given routes, exported, removed")
    func peer() throws {
        makeGateway()
        let added = gateway("peer", "add", "alice", "--group=staff", "--subnet=192.168.4.0/24")
        #expect(added.output.hasPrefix("alice  10.7.0."))
        gateway("route", "add", "10.20.0.0/16")
        gateway("route", "add", "10.30.0.0/16", "--group", "staff")
        gateway("route", "add", "10.20.9.0/24", "--exclude")
        gateway("dns", "set", "10.7.0.1", "fd07::1", "--match=corp.example", "--search=corp.example")
        gateway("mtu", "set", "1380", "--peer", "alice")
        let object = try #require(try gateway("peer", "show", "alice", "--json").objects().first)
        #expect(
            Set(object.keys)
                == ["schema", "peer", "allowedIPs", "routes", "excludedRoutes", "dns", "mtu", "result"])
        #expect(
            Set(try #require(object["routes"] as? [String])) == [
                "10.7.0.0/24", "fd07::/64", "10.20.0.0/16", "10.30.0.0/16",
            ])
        #expect(object["excludedRoutes"] as? [String] == ["10.20.9.0/24"])
        #expect(object["mtu"] as? Int == 1380 && object["result"] is NSNull)
        let dns = try #require(object["dns"] as? [String: Any])
        #expect(dns["mode"] as? String == "split" && dns["servers"] as? [String] == ["10.7.0.1", "fd07::1"])
        #expect((object["allowedIPs"] as? [String])?.last == "192.168.4.0/24")

        let text = gateway("peer", "show", "alice").output
        for part in ["10.30.0.0/16", "split: 10.7.0.1", "1380", "none yet"] { #expect(text.contains(part)) }

        let file = gateway("export", "alice").output
        let configuration = try Configuration(wgQuick: file)
        #expect(configuration.interface.addresses.isEmpty)
        #expect(configuration.peers.first?.endpoint?.description == "192.0.2.1:51820")
        let registry = try Registry(folder: folder)
        #expect(try registry.contents().peers["alice"]?.publicKey == configuration.interface.privateKey.publicKey)
        gateway("export", "alice", "--forget")
        gateway("export", "alice", expect: .notFound)

        gateway("peer", "remove", "alice")
        #expect(gateway("peer", "list").output == "There are no peers.\n")
        gateway("peer", "remove", "alice", expect: .notFound)
    }

    @Test("Lists in JSON have their keys also when they are empty")
    func emptyLists() throws {
        makeGateway()
        for (verb, key) in [("peer", "peers"), ("route", "routes"), ("pool", "pools")] {
            let object = try #require(try gateway(verb, "list", "--json").objects().first)
            #expect(object["schema"] as? Int == 1 && object[key] is [Any], "\(verb)")
        }
        #expect(try #require(try gateway("dns", "show", "--json").objects().first)["dns"] is [Any])
        #expect(try #require(try gateway("results", "--json").objects().first)["results"] is [Any])
        #expect(try #require(try gateway("show", "--json").objects().first)["leaseSeconds"] as? Int == 3600)
    }

    @Test("What is refused names the value and exits with 2")
    func refused() {
        makeGateway()
        let cases: [(arguments: [String], says: String)] = [
            (["peer", "add", "a b"], "`a b`"), (["peer", "add", "a", "--public-key", "x"], "--public-key"),
            (["peer", "add", "a", "--address", "10.9.0.1"], "10.9.0.1"),
            (["peer", "add", "a", "--address", "x"], "`x`"),
            (["peer", "add", "a", "--subnet", "10.7.0.0/25"], "the pool 10.7.0.0/24"),
            (["route", "add", "10.0.0.1/8"], "10.0.0.0/8"), (["route", "add", "ff00::/8"], "multicast"),
            (["route", "add", "10.0.0.0/8", "--peer=a", "--group=b"], "--group"),
            (["dns", "set", "dns.example"], "`dns.example`"), (["dns", "set", "10.7.0.1", "--mode", "all"], "`all`"),
            (["dns", "set", "10.7.0.1", "--match", "a_b"], "`a_b`"),
            (["dns", "set", "10.7.0.1", "--mode", "split"], "--match"),
            (["dns", "set", "10.7.0.1", "10.7.0.1"], "twice"),
            (["mtu", "set", "1279"], "1279"), (["mtu", "set", "x"], "MTU"),
            (["pool", "add", "10.7.0.0/16"], "the pool 10.7.0.0/24"),
        ]
        for (arguments, says) in cases {
            let (code, capture) = run(arguments)
            #expect(code == .usage, "\(arguments)")
            #expect(capture.errors.contains(says), "\(arguments): \(capture.errors)")
        }
        gateway("route", "remove", "10.0.0.0/8", expect: .notFound)
        gateway("pool", "remove", "10.8.0.0/24", expect: .notFound)
        gateway("peer", "show", "a", expect: .notFound)
        gateway("push", "--peer", "a", expect: .notFound)
    }

    @Test("Results name the item and the reason")
    func results() throws {
        makeGateway()
        gateway("peer", "add", "alice")
        gateway("route", "add", "0.0.0.0/0")
        let registry = try Registry(folder: folder)
        let version = try registry.contents().publishedSnapshot(of: "alice").version
        try registry.record([
            ReportedResult(
                peer: "alice", receivedAt: 0, serial: version.serial, status: .filtered,
                findings: [.init(section: SectionType.routes.rawValue, index: 0, reason: .defaultRoute)])
        ])
        let text = gateway("results").output
        #expect(text.hasPrefix("alice  filtered (serial 2, 1970-01-01T00:00:00Z)"))
        #expect(text.contains("routes 0.0.0.0/0: a default route"), "\(text)")
        let object = try #require(try gateway("results", "alice", "--json").objects().first)
        let result = try #require((object["results"] as? [[String: Any]])?.first)
        #expect(result["status"] as? String == "filtered" && result["offeredSerial"] as? Int == 2)
        let item = try #require((result["items"] as? [[String: Any]])?.first)
        #expect(item["item"] as? String == "0.0.0.0/0" && item["code"] as? Int == 400)
        gateway("push")
        #expect(gateway("results").output.contains("serial 2, 3 is offered"))
    }

    @Test("A QR code without qrencode says what to install; a program that fails is an error")
    func qrCode() throws {
        #expect(throws: QRCodeError(.programMissing)) { try QRCode.terminalText(of: "x", searchPath: "/nonexistent") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func install(_ script: String) throws {
            #expect(
                FileManager.default.createFile(
                    atPath: folder + "/qrencode", contents: Data("#!/bin/sh\n\(script)\n".utf8),
                    attributes: [.posixPermissions: 0o700]))
        }
        try install("cat; echo code")
        #expect(try QRCode.terminalText(of: "text\n", searchPath: folder) == "text\ncode\n")
        try install("exit 3")
        #expect(throws: QRCodeError(.programFailed)) { try QRCode.terminalText(of: "x", searchPath: folder) }
    }
}
