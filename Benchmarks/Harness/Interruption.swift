import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as an error that is thrown at the next look, so that every `defer` on the way runs.
enum Interruption {
    private static let requested = Atomic<Bool>(false)

    /// Replaces the default of the three signals.
    ///
    /// A handler, unlike SIG_IGN, is not inherited by started programs.
    static func install() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            _ = signal(number) { _ in Interruption.requested.store(true, ordering: .relaxed) }
        }
    }

    /// Whether a signal came.
    static var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// Throws ``BenchmarkError/interrupted`` after a signal.
    static func check() throws {
        if isRequested { throw BenchmarkError.interrupted }
    }
}
