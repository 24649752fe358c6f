import CTun
import Glibc

/// A program of the system, run with a fixed environment and a time limit; never through a shell.
public struct SystemProgram: Sendable {
    /// Bytes of output that are kept.
    private static let outputLimit = 1 << 16
    private static let folders = ["/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]

    /// Where it is.
    public let path: String

    /// The program of this name in the system's folders; nil if there is none.
    public init?(named name: String) {
        let candidates = Self.folders.lazy.map { $0 + "/" + name }
        guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    /// What became of a run.
    public struct Outcome: Sendable {
        /// Why the program did not do what it should, as a phrase; nil if it did.
        public var failure: String?
        /// What it printed.
        public var output: String
    }

    /// Runs the program to its end.
    public func run(_ arguments: [String], input: String, milliseconds: Int32) -> Outcome {
        // SAFETY: strdup returns memory that is freed below, after the program has ended; the list ends with nil.
        var list = unsafe ([path] + arguments).map { unsafe UnsafePointer(strdup($0)) } + [nil]
        defer { unsafe list.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
        var output = [UInt8](repeating: 0, count: Self.outputLimit)
        var length = 0
        let bytes = Array(input.utf8)
        // SAFETY: both buffers outlive the call, and their own counts are passed.
        let status = unsafe bytes.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { sink in
                guard let start = sink.baseAddress else { return -EINVAL }
                return unsafe ctun_run_program(
                    &list, source.baseAddress, source.count, start, sink.count, &length, milliseconds)
            }
        }
        let text = String(decoding: output.prefix(length), as: UTF8.self)
        return Outcome(failure: Self.failure(status, text), output: text)
    }

    private static func failure(_ status: Int32, _ output: String) -> String? {
        switch status {
        case 0: return nil
        case -ETIMEDOUT: return "it did not end in time"
        case ..<0: return "it could not be run, error \(-status)"
        case 256...: return "it was ended by signal \(status - 256)"
        default:
            // What a program prints is for people: one line of it, without control characters.
            let line = output.split(separator: "\n").first.map(String.init) ?? ""
            let printable = String(String.UnicodeScalarView(line.unicodeScalars.filter { $0.value >= 32 }.prefix(200)))
            return "status \(status)" + (printable.isEmpty ? "" : ", \"\(printable)\"")
        }
    }
}
