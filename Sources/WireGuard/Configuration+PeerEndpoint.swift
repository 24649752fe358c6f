extension Configuration.PeerEndpoint {
    /// Parses `HOST:PORT`: a numeric address (IPv6 in brackets) or a name, whose form alone is checked; the port is not 0.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = DecimalField(text[text.index(after: colon)...], maximum: 65_535), port.value > 0
        else { return nil }
        if let endpoint = Endpoint(text) {
            self = .address(endpoint)
            return
        }
        let host = text[..<colon]
        if host.first == "[" {
            let zoned = host.dropFirst().dropLast()
            let parts = zoned.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            guard host.last == "]", parts.count == 2, case .v6 = IPAddress(parts[0]), HostName.isInterface(parts[1])
            else { return nil }
            self = .name(String(zoned), port: UInt16(port.value))
            return
        }
        guard HostName.isValid(host) else { return nil }
        self = .name(String(host), port: UInt16(port.value))
    }
}
