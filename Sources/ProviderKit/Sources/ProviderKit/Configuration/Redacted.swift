/// Keeps a property out of every text that is made of its owner: print, string interpolation and dump.
@propertyWrapper
public struct Redacted<Value: Sendable & Equatable>: Sendable, Equatable {
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
