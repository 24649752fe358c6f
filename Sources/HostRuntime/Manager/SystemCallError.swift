public import ProviderKit

/// A system call of the manager that failed where nothing more specific is known.
public struct SystemCallError: TunnelError, Equatable {
    /// The name of the call.
    public let call: String
    /// The errno, positive.
    public let errno: Int32

    public var errorDomain: String { "NSPOSIXErrorDomain" }
    public var errorCode: Int { Int(errno) }
    public var cause: String { "\(call) failed: \(ChannelSystem.text(of: errno))." }
    public var remedy: String { "Check the limits of memory, processes and open files." }

    /// Throws for the `-errno` of a call; passes every other result on.
    @discardableResult
    static func check(_ call: String, _ result: Int32) throws(SystemCallError) -> Int32 {
        if result < 0 { throw SystemCallError(call: call, errno: -result) }
        return result
    }
}
