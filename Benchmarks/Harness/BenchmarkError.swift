/// Why a run ended without figures: what happened, and what to do about it.
struct BenchmarkError: Error, Equatable {
    /// The kind of fault, which decides the exit status.
    enum Kind: Int32 {
        case failed = 1
        case usage = 2
        /// 128 + SIGINT, as a shell reports it.
        case interrupted = 130
    }

    let kind: Kind
    let cause: String
    let advice: String

    init(_ cause: String, advice: String, kind: Kind = .failed) {
        self.kind = kind
        self.cause = cause
        self.advice = advice
    }

    /// A wrong command line.
    static func usage(_ cause: String, advice: String) -> BenchmarkError {
        BenchmarkError(cause, advice: advice, kind: .usage)
    }

    /// A signal asked for the end.
    static let interrupted = BenchmarkError(
        "interrupted by a signal", advice: "Namespaces, processes and files of the run were removed.",
        kind: .interrupted)
}
