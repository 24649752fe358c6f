/// An argument of a D-Bus call.
enum BusValue {
    case boolean(Bool)
    case byte(UInt8)
    case int32(Int32)
    case text(String)
    indirect case structure([BusValue])
    /// Elements of one type, given by its signature: an empty array has one too.
    indirect case array(of: String, [BusValue])

    /// The type in D-Bus's notation.
    var signature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .text: "s"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .array(let element, _): "a" + element
        }
    }
}

/// A method of an object on the bus.
struct BusMethod {
    var destination: String
    var path: String
    var interface: String
    var member: String

    /// A method of the bus itself.
    static func bus(_ member: String) -> BusMethod {
        BusMethod(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member)
    }
}

/// A call that failed, or a connection that is lost.
struct BusFailure: Error {
    /// The name of the error, such as `org.freedesktop.DBus.Error.UnknownMethod`; nil where there was no answer.
    var name: String?
    /// What to tell a person.
    var message: String
}
