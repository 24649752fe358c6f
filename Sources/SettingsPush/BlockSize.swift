/// The sizes that blocks have.
public enum BlockSize: UInt16, Sendable, Hashable {
    case standard = 1024
    /// After two losses: passes a path that loses larger packets.
    case small = 448
}
