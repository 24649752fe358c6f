/// The text after `key =`, and what it may mean.
struct ConfigurationValue {
    let key: ConfigurationKey
    let text: String
    let line: Int

    /// The error that says the key cannot be `item`.
    private func invalid(_ item: Span<UInt8>) -> ConfigurationError {
        let reason: ConfigurationError.Reason =
            text.isEmpty ? .missingValue(key) : .invalidValue(key, text: ConfigurationError.excerpt(item))
        return ConfigurationError(line: line, reason: reason)
    }

    private func invalid(_ item: some StringProtocol) -> ConfigurationError {
        let item = String(item)
        return invalid(item.utf8Span.span)
    }

    private func invalid() -> ConfigurationError { invalid(text) }

    /// The error that does not say what stands where a key should.
    private var invalidKey: ConfigurationError {
        ConfigurationError(line: line, reason: text.isEmpty ? .missingValue(key) : .invalidKey(key))
    }

    /// A public or secret key; all zero, which wg(8) takes for none, is refused.
    func key256() throws(ConfigurationError) -> Key256 {
        guard let value = Key256(base64: text), !value.isZero else { throw invalidKey }
        return value
    }

    /// A preshared key; all zero means none.
    func presharedKey() throws(ConfigurationError) -> PresharedKey {
        guard let value = PresharedKey(base64: text) else { throw invalidKey }
        return value
    }

    /// A decimal number.
    func number(in range: ClosedRange<UInt32>) throws(ConfigurationError) -> UInt32 {
        guard let field = DecimalField(text, maximum: range.upperBound), range.contains(field.value) else {
            throw invalid()
        }
        return field.value
    }

    /// A decimal number, or `0x` and hexadecimal digits.
    func anyNumber(in range: ClosedRange<UInt32>) throws(ConfigurationError) -> UInt32 {
        guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return try number(in: range) }
        let digits = text.dropFirst(2)
        guard digits.first != "+", digits.first != "-", let value = UInt32(digits, radix: 16), range.contains(value)
        else { throw invalid() }
        return value
    }

    /// A mark of packets: `off` or a number.
    func mark() throws(ConfigurationError) -> UInt32 {
        spells("off") ? 0 : try anyNumber(in: 0...UInt32.max)
    }

    /// A table of rtnetlink, by number or by a name that every system has (rt_tables).
    func table() throws(ConfigurationError) -> Configuration.RoutingTable {
        switch text.lowercased() {
        case "off": return .off
        case "auto": return .automatic
        case "default": return .number(253)
        case "main": return .number(254)
        case "local": return .number(255)
        default: return .number(try anyNumber(in: 1...UInt32.max))
        }
    }

    /// `true` or `false`.
    func boolean() throws(ConfigurationError) -> Bool {
        if spells("true") { return true }
        guard spells("false") else { throw invalid() }
        return false
    }

    /// `off` or seconds, 0 for off.
    func keepalive() throws(ConfigurationError) -> UInt16 {
        spells("off") ? 0 : UInt16(try number(in: 0...65_535))
    }

    /// The addresses of an interface; white space separates too, as in wg-quick(8).
    func addresses() throws(ConfigurationError) -> [Configuration.InterfaceAddress] {
        var addresses: [Configuration.InterfaceAddress] = []
        for item in looseItems {
            let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let prefix = IPPrefix(item), let address = IPAddress(parts[0]) else { throw invalid(item) }
            addresses.append(Configuration.InterfaceAddress(address: address, prefixLength: prefix.length))
        }
        return addresses
    }

    /// Adds servers and search domains; what looks like an address must be one.
    func readDNS(servers: inout [IPAddress], domains: inout [String]) throws(ConfigurationError) {
        for item in looseItems {
            if let address = IPAddress(item) {
                servers.append(address)
            } else {
                guard HostName.isValid(item) else { throw invalid(item) }
                domains.append(String(item))
            }
        }
    }

    /// The allowed IPs of one line; no item at all is an empty list.
    func networks() throws(ConfigurationError) -> [IPPrefix] {
        guard !text.isEmpty else { return [] }
        var networks: [IPPrefix] = []
        var rest = text.utf8Span.span
        while true {
            let comma = rest.firstOffset(of: UInt8(ascii: ","))
            let item = rest.extracting(0..<(comma ?? rest.count)).trimmed
            if !item.isEmpty, item[0] == UInt8(ascii: "+") || item[0] == UInt8(ascii: "-") {
                throw ConfigurationError(
                    line: line, reason: .incrementalAllowedIP(ConfigurationError.excerpt(item)))
            }
            guard let network = IPPrefix(item) else { throw invalid(item) }
            networks.append(network)
            guard let comma else { return networks }
            rest = rest.extracting(comma + 1..<rest.count)
        }
    }

    /// Where a peer is; a name is checked for its form only.
    func endpoint() throws(ConfigurationError) -> Configuration.PeerEndpoint {
        guard let endpoint = Configuration.PeerEndpoint(text) else { throw invalid() }
        return endpoint
    }

    private func spells(_ word: String) -> Bool { text.utf8Span.span.spells(word) }

    private var looseItems: [Substring] { text.split { $0 == "," || $0 == " " || $0 == "\t" } }
}

/// The form of names in a configuration.
enum HostName {
    /// Whether the text is a DNS name (RFC 1123 section 2.1; underscores are allowed, as resolvers do) and no number.
    static func isValid(_ text: some StringProtocol) -> Bool {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        guard (1...253).contains(name.utf8.count) else { return false }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        // A last label of digits alone is a mistyped IPv4 address (RFC 1123 section 2.1).
        guard let last = labels.last, !last.utf8.allSatisfy(isDigit) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { isDigit($0) || isLetter($0) || $0 == 45 || $0 == 95 }
        }
    }

    /// Whether the text can name a network interface: 1 to 15 bytes of `[a-zA-Z0-9_=+.-]`.
    static func isInterface(_ text: some StringProtocol) -> Bool {
        (1...15).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || isLetter($0) || "_=+.-".utf8.contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
    private static func isLetter(_ byte: UInt8) -> Bool { byte | 32 >= 97 && byte | 32 <= 122 }
}
