private import CTun
private import Glibc

/// A session in a process of its own, which its maker leaves behind once it is ready.
public enum Service {
    /// What became of a start.
    public enum Outcome: Sendable, Equatable {
        /// The process serves, and outlives this one.
        case ready
        /// It ended with this status; the text says why, empty where it could not.
        case failed(status: Int32, text: String)
    }

    /// Runs this executable anew in the background and waits until it is ready or has ended.
    ///
    /// To be called before the process has a second thread. The new process finds where to report in its environment.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, beginning with the program's name.
    ///   - keepsOutput: Whether it writes where this process writes; nowhere otherwise.
    ///   - descriptors: The descriptors that it is given, by their numbers.
    /// - Returns: Whether it is ready, or how it ended.
    /// - Throws: ``SystemCallError`` when no process or pipe can be had.
    public static func launch(
        _ arguments: [String], keepsOutput: Bool, descriptors: [Int32]
    ) throws(SystemCallError) -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemCallError(call: "pipe", errno: errno) }
        let (near, far) = (Descriptor(adopting: ends[0]), Descriptor(adopting: ends[1]))
        unsafe setenv(Readiness.environmentKey, "\(far.number)", 1)
        defer { unsafe unsetenv(Readiness.environmentKey) }
        var pid: pid_t = 0
        let strings = unsafe arguments.map { unsafe UnsafePointer(strdup($0)) }
        defer { unsafe strings.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
        let result = unsafe (strings + [nil]).withUnsafeBufferPointer { list in
            guard let list = list.baseAddress else { return -EINVAL }
            let kept = descriptors + [far.number]
            return unsafe ctun_spawn_service(ChildProcess.ownExecutable, list, keepsOutput, kept, kept.count, &pid)
        }
        try SystemCallError.check("fork", result)
        far.close()
        let text = readAll(near)
        guard text != Readiness.word else { return .ready }
        return .failed(status: ctun_wait_for_exit(pid), text: text)
    }

    /// Gives this process the name of its program: to ps(1), one that was run as `/proc/self/exe` is `exe`.
    public static func takeName() { ctun_take_name() }

    /// Reads until the other end closes; what comes is a sentence at most.
    private static func readAll(_ descriptor: Descriptor) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(descriptor.number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            if bytes.count < 1 << 16 { bytes += buffer[..<count] }
        }
    }
}

/// The service's side: tells its maker once what became of the start.
public final class Readiness: Sendable {
    static let environmentKey = "PROVIDERHOST_READY_FD"
    static let word = "ready"

    private let descriptor: Descriptor

    /// Finds the maker, if this process has one that waits.
    public init?() {
        guard let text = unsafe getenv(Self.environmentKey), let number = Int32(unsafe String(cString: text)),
            number > 2,
            fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        descriptor = Descriptor(adopting: number)
        unsafe unsetenv(Self.environmentKey)
    }

    /// Tells that the service is ready.
    public func tellReady() { tell(Self.word) }

    /// Tells why it will not be.
    public func tellFailure(_ text: String) { tell(text) }

    private func tell(_ text: String) {
        // What the maker has heard stands.
        guard descriptor.number >= 0 else { return }
        _ = ChannelSystem.write(descriptor.number, Array(text.utf8))
        descriptor.close()
    }
}
