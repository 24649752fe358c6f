/// A value of the kinds that configurations and start options carry: what a property list can hold.
public enum PropertyListValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case real(Double)
    case boolean(Bool)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// The string, where it is one.
    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The integer, where it is one.
    public var integerValue: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// The truth value, where it is one.
    public var booleanValue: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }
}

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
