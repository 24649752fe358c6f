public import ProviderKit

/// A line of the policy that cannot be used.
public struct PolicyLineError: TunnelError, Equatable {
    /// The name of the line.
    public let key: String
    public let cause: String
    public let remedy: String

    public var errorDomain: String { "SettingsPush.PolicyLineError" }
    public var errorCode: Int { 1 }

    init(_ key: String, _ value: String, expected: String) {
        self.key = key
        // The value comes from a file: what of it is not plain stays out of the message.
        let shown = String(
            value.unicodeScalars.prefix(64).map { $0.isASCII && $0.value >= 32 && $0.value < 127 ? Character($0) : "?" }
        )
        cause = "\(key) is '\(shown)'."
        remedy = "It has to be \(expected)."
    }
}
