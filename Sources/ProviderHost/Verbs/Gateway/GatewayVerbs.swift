internal import Foundation
internal import GatewayRegistry
internal import HostRuntime
internal import ProviderKit
internal import WireGuard

/// The verbs that keep a gateway, one file for each subject, and what they have in common.
enum GatewayVerbs {
    static let all: [Command] =
        [GatewayInitVerb.command, GatewayShowVerb.command] + GatewayPeerVerbs.all + GatewayPoolVerbs.all
        + GatewayRouteVerbs.all + GatewayDNSVerbs.all + GatewayMTUVerbs.all
        + [
            GatewayPushVerb.command, GatewayResultsVerb.command, GatewayExportVerb.command, GatewayRunVerb.command,
        ]

    /// The folder of the registry; tests run in one of their own.
    @TaskLocal static var stateFolder = StateFolder.current

    /// The registry of this machine's gateway.
    static func registry() throws(RegistryError) -> Registry { try Registry(folder: stateFolder) }

    /// Seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Thirty-two bytes of the system's generator.
    static func randomKey() -> Key256 {
        var generator = SystemRandomNumberGenerator()
        return Key256(words: SIMD4(generator.next(), generator.next(), generator.next(), generator.next()))
    }
}

extension Command.Option {
    static let peer = Command.Option(name: "peer", value: "NAME", summary: "For this peer only.")
    static let group = Command.Option(name: "group", value: "NAME", summary: "For the peers of this group only.")
}

extension Arguments {
    /// Whom the change is for: `--peer`, `--group`, or every peer.
    func scope() throws(UsageError) -> PushScope {
        switch (values["peer"], values["group"]) {
        case (nil, nil): return .gateway
        case (let peer?, nil): return .peer(peer)
        case (nil, let group?): return .group(group)
        case (_?, _?):
            throw UsageError(
                .invalidValue, cause: "--peer and --group exclude each other.",
                remedy: "Give the one that is meant, or none for every peer.")
        }
    }

    /// The decimal number of an option, nil where the option is not given.
    func number<Number: FixedWidthInteger>(
        _ option: String, in range: ClosedRange<Number>
    ) throws(UsageError) -> Number? {
        guard let text = values[option] else { return nil }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Number(text), range.contains(number) else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no value for --\(option).",
                remedy: "Give a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The networks of a repeated option.
    func prefixes(_ option: String) throws(RegistryError) -> [IPPrefix] {
        var prefixes: [IPPrefix] = []
        for text in lists[option] ?? [] { prefixes.append(try IPPrefix.strict(text)) }
        return prefixes
    }

    /// An address that was given as `text`.
    static func address(_ text: String) throws(UsageError) -> IPAddress {
        guard let address = IPAddress(text) else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no address.",
                remedy: "Write one such as 10.7.0.5 or fd00::5.")
        }
        return address
    }
}

/// A value that is null in JSON where there is none, so that its key is always there.
struct Nullable<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
