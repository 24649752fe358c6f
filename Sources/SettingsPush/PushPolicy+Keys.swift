public import ProviderKit
import WireGuard

/// The policy as lines of a profile: the same names in a wg-quick file's comments and in a provider configuration.
extension PushPolicy {
    /// The name under which the source stands in a provider configuration; a wg-quick file says `settings`.
    public static let sourceKey = "settingsSource"

    /// The names of all lines.
    public static let keys: [String] = [
        sourceKey, "acceptDefaultRoute", "acceptRoutes", "denyRoutes", "acceptDNS", "acceptSearchDomains",
        "allowedDNSZones", "allowedAddressPools", "maxRoutes", "mtuRange", "maxChangesPerMinute", "onLeaseExpiry",
        "blockOtherFamily", "includeAllNetworks", "excludeLocalNetworks", "enforceRoutes",
    ]

    /// Takes the lines that a provider configuration has; others are not looked at.
    public init(_ configuration: [String: PropertyListValue]) throws(PolicyLineError) {
        self.init()
        for key in Self.keys {
            guard let value = configuration[key] else { continue }
            guard let text = value.policyText else {
                throw PolicyLineError(key, "", expected: "text, a number or a list")
            }
            try set(key, to: text)
        }
    }

    /// Sets one line.
    ///
    /// - Parameters:
    ///   - key: One of ``keys``; others are not policy, and nothing happens.
    ///   - text: Its value; members of a list are separated by commas.
    /// - Throws: Why the value cannot be used; the policy is as before then.
    public mutating func set(_ key: String, to text: String) throws(PolicyLineError) {
        switch key {
        case Self.sourceKey: source = try Self.choice(key, text)
        case "acceptDefaultRoute": acceptDefaultRoute = try Self.truth(key, text)
        case "acceptRoutes": acceptRoutes = try Self.prefixes(key, text)
        case "denyRoutes": denyRoutes = try Self.prefixes(key, text)
        case "acceptDNS": acceptDNS = try Self.choice(key, text)
        case "acceptSearchDomains": acceptSearchDomains = try Self.truth(key, text)
        case "allowedDNSZones":
            allowedDNSZones = try Self.list(key, text, expected: "domains, separated by commas") { DomainName($0) }
        case "allowedAddressPools": allowedAddressPools = try Self.prefixes(key, text)
        case "maxRoutes": maxRoutes = try Self.number(key, text, 0...Int(SnapshotLimits.hard.routeCount))
        case "mtuRange": mtuRange = try Self.range(key, text, 576...65_535)
        case "maxChangesPerMinute": maxChangesPerMinute = try Self.number(key, text, 1...60)
        case "onLeaseExpiry": onLeaseExpiry = try Self.choice(key, text)
        case "blockOtherFamily": blockOtherFamily = try Self.truth(key, text)
        case "includeAllNetworks": includeAllNetworks = try Self.truth(key, text)
        case "excludeLocalNetworks": excludeLocalNetworks = try Self.truth(key, text)
        case "enforceRoutes": enforceRoutes = try Self.truth(key, text)
        default: break
        }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ text: String
    ) throws(PolicyLineError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyLineError(key, text, expected: "one of: \(all)")
        }
        return choice
    }

    private static func truth(_ key: String, _ text: String) throws(PolicyLineError) -> Bool {
        switch text {
        case "true", "yes": return true
        case "false", "no": return false
        default: throw PolicyLineError(key, text, expected: "true or false")
        }
    }

    private static func number(
        _ key: String, _ text: String, _ range: ClosedRange<Int>
    ) throws(PolicyLineError) -> Int {
        guard let number = decimal(text), range.contains(number) else {
            throw PolicyLineError(key, text, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func range(
        _ key: String, _ text: String, _ limits: ClosedRange<Int>
    ) throws(PolicyLineError) -> ClosedRange<Int> {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { decimal(String($0)) }
        guard bounds.count == 2, let least = bounds[0], let most = bounds[1], least <= most, limits.contains(least),
            limits.contains(most)
        else {
            throw PolicyLineError(key, text, expected: "LEAST-MOST, from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return least...most
    }

    /// Digits only: `Int("+8")` would pass.
    private static func decimal(_ text: String) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func prefixes(_ key: String, _ text: String) throws(PolicyLineError) -> [IPPrefix] {
        try list(key, text, expected: "networks like 10.0.0.0/8, separated by commas") { IPPrefix($0) }
    }

    private static func list<Item>(
        _ key: String, _ text: String, expected: String, _ parse: (String) -> Item?
    ) throws(PolicyLineError) -> [Item] {
        var items: [Item] = []
        for part in text.split(separator: ",") {
            let member = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            guard let item = parse(member) else { throw PolicyLineError(key, member, expected: expected) }
            items.append(item)
        }
        return items
    }
}

extension PropertyListValue {
    /// The value as a line says it; nil for kinds that no line has.
    fileprivate var policyText: String? {
        switch self {
        case .string(let text): return text
        case .integer(let number): return "\(number)"
        case .boolean(let value): return value ? "true" : "false"
        case .array(let members):
            let texts = members.map(\.policyText)
            guard !texts.contains(nil) else { return nil }
            return texts.compactMap(\.self).joined(separator: ",")
        case .real, .data, .dictionary: return nil
        }
    }
}
