import Foundation
import Glibc

/// Runs test bodies in network namespaces of their own, each on a thread of its own.
///
/// A thread that left its namespace must not serve other tests: it ends with the body, and the namespace with it.
package enum NetworkNamespace {
    /// Whether this process may make namespaces; the tests that need one are skipped by name otherwise.
    package static let isAvailable: Bool = geteuid() == 0 && (try? run { true }) == true

    package struct Refused: Error {
        package var code: Int32
    }

    /// The result of `body` on a fresh thread in a fresh namespace, where only the loopback interface exists.
    ///
    /// `withMounts` gives the thread a mount namespace of its own too.
    package static func run<Value: Sendable>(
        withMounts: Bool = false, _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let box = Box<Value>()
        let finished = DispatchSemaphore(value: 0)
        let thread = Thread {
            box.result = Result {
                try leave(withMounts: withMounts)
                return try body()
            }
            finished.signal()
        }
        thread.start()
        finished.wait()
        guard let result = box.result else { throw Refused(code: EINVAL) }
        return try result.get()
    }

    /// Moves the calling thread to a fresh namespace; the Glibc module does not show unshare(2), hence the symbol.
    private static func leave(withMounts: Bool) throws {
        typealias Unshare = @convention(c) (CInt) -> CInt
        let cloneNewNetwork: CInt = 0x4000_0000
        guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "unshare") else { throw Refused(code: ENOSYS) }
        // SAFETY: the signature is that of unshare(2).
        let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
        let cloneNewMounts: CInt = 0x0002_0000
        guard unshare(cloneNewNetwork | (withMounts ? cloneNewMounts : 0)) == 0 else { throw Refused(code: errno) }
    }

    /// The output of a shell command in the calling thread's namespace.
    @discardableResult
    package static func shell(_ command: String) throws -> String {
        guard let pipe = unsafe popen(command + " 2>&1", "r") else { throw Refused(code: errno) }
        var output: [UInt8] = []
        while case let byte = unsafe fgetc(pipe), byte >= 0 { output.append(UInt8(truncatingIfNeeded: byte)) }
        let status = unsafe pclose(pipe)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else { throw CommandFailure(command: command, output: text) }
        return text
    }

    package struct CommandFailure: Error {
        package var command: String
        package var output: String
    }

    // SAFETY: written by the one thread before the semaphore is signalled, read by the other after it has waited.
    private final class Box<Value>: @unchecked Sendable {
        var result: Result<Value, any Error>?
    }
}
