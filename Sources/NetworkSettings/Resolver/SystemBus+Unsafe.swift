import CSystemd
import Glibc
import Netlink

/// A connection to the system bus (sd-bus); no call waits beyond its deadline.
// SAFETY: sd-bus wants one thread at a time, whichever that is; a value that cannot be copied has one owner at a time.
@safe
struct SystemBus: ~Copyable, @unchecked Sendable {
    // INVARIANT: made by sd_bus_new, released exactly once, in deinit.
    private let bus: OpaquePointer

    /// Connects, and waits until the bus has answered.
    static func connect(until deadline: BusDeadline) throws(BusFailure) -> SystemBus {
        var made: OpaquePointer?
        try check(unsafe sd_bus_open_system(&made))
        guard let made = unsafe made else { throw BusFailure(message: "there is no connection") }
        let connection = unsafe SystemBus(adopting: made)
        while true {
            try check(unsafe sd_bus_process(connection.bus, nil))
            if try check(unsafe sd_bus_is_ready(connection.bus)) > 0 { return connection }
            guard deadline.remaining > 0 else { throw BusFailure(message: "the bus does not answer") }
            try check(unsafe sd_bus_wait(connection.bus, deadline.remaining))
        }
    }

    private init(adopting bus: OpaquePointer) { unsafe self.bus = bus }

    deinit { _ = unsafe sd_bus_flush_close_unref(bus) }

    /// Readable when there is something to ``process(_:)``.
    var fileDescriptor: Int32 { unsafe sd_bus_get_fd(bus) }

    /// Calls a method and returns the number that it answers with, if its answer is one.
    @discardableResult
    func call(_ method: BusMethod, _ arguments: [BusValue], until deadline: BusDeadline) throws(BusFailure) -> UInt32? {
        var message: OpaquePointer?
        try Self.check(
            unsafe sd_bus_message_new_method_call(
                bus, &message, method.destination, method.path, method.interface, method.member))
        defer { _ = unsafe sd_bus_message_unref(message) }
        for argument in arguments { try unsafe Self.append(argument, to: message) }
        var error = unsafe sd_bus_error()
        var reply: OpaquePointer?
        defer {
            unsafe sd_bus_error_free(&error)
            _ = unsafe sd_bus_message_unref(reply)
        }
        // A timeout of zero would be the library's default of 25 s.
        let code = unsafe sd_bus_call(bus, message, max(1, deadline.remaining), &error, &reply)
        guard code >= 0 else {
            guard let name = unsafe error.name else { throw Self.failure(code) }
            let text = unsafe error.message.map { unsafe String(cString: $0) } ?? errorText(-code)
            throw BusFailure(name: unsafe String(cString: name), message: text)
        }
        var number: UInt32 = 0
        guard unsafe sd_bus_message_has_signature(reply, "u") > 0,
            unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "u")), &number) > 0
        else { return nil }
        return number
    }

    /// Takes the messages that have arrived; `receive` gets the texts that a signal of the bus itself begins with.
    func process(_ receive: (_ signal: String, [String]) -> Void) throws(BusFailure) {
        while true {
            var message: OpaquePointer?
            let code = try Self.check(unsafe sd_bus_process(bus, &message))
            defer { _ = unsafe sd_bus_message_unref(message) }
            guard code > 0 else { return }
            guard unsafe message != nil, unsafe sd_bus_message_is_signal(message, "org.freedesktop.DBus", nil) > 0,
                let member = unsafe sd_bus_message_get_member(message)
            else { continue }
            unsafe receive(String(cString: member), Self.texts(message))
        }
    }

    /// The elements of a property that is an array of structures with numbers, texts, flags and bytes in them.
    func structures(
        _ property: BusMethod, fields: String, until deadline: BusDeadline
    ) throws(BusFailure) -> [[BusValue]] {
        try Self.check(unsafe sd_bus_set_method_call_timeout(bus, max(1, deadline.remaining)))
        var error = unsafe sd_bus_error()
        var reply: OpaquePointer?
        defer {
            unsafe sd_bus_error_free(&error)
            _ = unsafe sd_bus_message_unref(reply)
        }
        try Self.check(
            unsafe sd_bus_get_property(
                bus, property.destination, property.path, property.interface, property.member, &error, &reply,
                "a(\(fields))"))
        try Self.check(unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "a")), "(\(fields))"))
        var structures: [[BusValue]] = []
        while try Self.check(unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "r")), fields)) > 0 {
            structures.append(try unsafe Self.values(fields, reply))
            try Self.check(unsafe sd_bus_message_exit_container(reply))
        }
        return structures
    }

    /// The values of one structure; of arrays, those of bytes only.
    private static func values(_ fields: String, _ message: OpaquePointer?) throws(BusFailure) -> [BusValue] {
        var values: [BusValue] = []
        for field in fields {
            switch field {
            case "i":
                var number: Int32 = 0
                try check(unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "i")), &number))
                values.append(.int32(number))
            case "b":
                var flag: Int32 = 0
                try check(unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &flag))
                values.append(.boolean(flag != 0))
            case "s":
                var text: UnsafePointer<CChar>?
                try check(unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &text))
                values.append(.text(unsafe text.map { unsafe String(cString: $0) } ?? ""))
            case "y":
                var start: UnsafeRawPointer?
                var count = 0
                try check(unsafe sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &count))
                // SAFETY: sd-bus lends `count` bytes that live as long as the message.
                let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
                values.append(.array(of: "y", unsafe bytes.map { .byte($0) }))
            default: continue
            }
        }
        return values
    }

    private static func texts(_ message: OpaquePointer?) -> [String] {
        var texts: [String] = []
        var text: UnsafePointer<CChar>?
        while unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "s")), &text) > 0,
            let found = unsafe text
        {
            unsafe texts.append(String(cString: found))
        }
        return texts
    }

    private static func append(_ value: BusValue, to message: OpaquePointer?) throws(BusFailure) {
        switch value {
        case .boolean(let flag):
            var number: Int32 = flag ? 1 : 0
            try check(unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "b")), &number))
        case .byte(var byte):
            try check(unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "y")), &byte))
        case .int32(var number):
            try check(unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &number))
        case .text(let text):
            // SAFETY: a string is passed by its own address, which sd-bus reads up to the NUL before it returns.
            try check(
                unsafe text.withCString {
                    unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0)
                })
        case .structure(let fields):
            let contents = fields.map(\.signature).joined()
            try unsafe contain(fields, "r", contents, message)
        case .array(let element, let values): try unsafe contain(values, "a", element, message)
        }
    }

    private static func contain(
        _ values: [BusValue], _ kind: Unicode.Scalar, _ contents: String, _ message: OpaquePointer?
    ) throws(BusFailure) {
        try check(unsafe sd_bus_message_open_container(message, CChar(UInt8(ascii: kind)), contents))
        for value in values { try unsafe append(value, to: message) }
        try check(unsafe sd_bus_message_close_container(message))
    }

    @discardableResult
    private static func check(_ code: Int32) throws(BusFailure) -> Int32 {
        if code < 0 { throw failure(code) }
        return code
    }

    private static func failure(_ code: Int32) -> BusFailure { BusFailure(message: errorText(-code)) }
}

/// A moment on CLOCK_MONOTONIC after which nobody waits any more.
struct BusDeadline {
    private let end: UInt64

    /// So many milliseconds from now.
    init(milliseconds: UInt64) { end = Self.now + milliseconds * 1000 }

    /// Microseconds that are left.
    var remaining: UInt64 {
        let now = Self.now
        return now < end ? end - now : 0
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}

/// The C library's sentence for an errno.
func errorText(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    // SAFETY: the XSI form writes at most `count` bytes, and a terminating NUL.
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
