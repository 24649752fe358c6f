private import Glibc

/// The users of the machine.
enum UserNames {
    /// The number of a user; nil when there is none of this name.
    static func number(of name: String) -> UInt32? {
        // SAFETY: the record is read before another call could replace it; the program has no other thread that asks.
        unsafe getpwnam(name).map { unsafe $0.pointee.pw_uid }
    }
}
