/// A part of network settings that were accepted but that this machine cannot give its effect, and why.
public struct SettingsShortfall: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The part, by its name in ``PacketTunnelNetworkSettings``: `dnsSettings`, `mtu`.
    public var part: String
    /// Why, in one sentence.
    public var cause: String
    /// What to do about it, in one sentence; empty where the cause says it.
    public var remedy: String

    /// Makes a shortfall of one part.
    public init(part: String, cause: String, remedy: String) {
        self.part = part
        self.cause = cause
        self.remedy = remedy
    }

    /// Part, cause and remedy in one line.
    public var description: String { remedy.isEmpty ? "\(part): \(cause)" : "\(part): \(cause) \(remedy)" }
}
