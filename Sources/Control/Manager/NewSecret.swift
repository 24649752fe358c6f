internal import Foundation

/// A secret on its way into the keychain, together with the configuration that has its name in its place.
public struct NewSecret: Codable, Sendable, Equatable {
    /// What the configuration calls it.
    public var name: String
    private var data: Data
    /// When it may be read, by the Security framework's short names; after the first unlock (`ck`) else.
    public var accessibility: String?

    /// Makes a secret.
    public init(name: String, bytes: [UInt8], accessibility: String? = nil) {
        self.name = name
        data = Data(bytes)
        self.accessibility = accessibility
    }

    /// What is kept secret.
    public var bytes: [UInt8] { [UInt8](data) }
}
