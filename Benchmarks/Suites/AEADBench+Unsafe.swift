internal import CTun
internal import Glibc

/// One back end with buffers of its own, for timing.
@safe
final class AEADBench {
    let name: String
    private let table: UnsafePointer<ctun_aead_backend>
    private let state: UnsafeMutableRawPointer
    private let input: UnsafeMutablePointer<UInt8>
    private let output: UnsafeMutablePointer<UInt8>
    private let jobs: UnsafeMutablePointer<ctun_aead_job>
    private static let capacity = 128 * 1024
    private static let batch = 64

    /// The back ends of this machine, each of which must pass its self-test.
    static func all() throws -> [AEADBench] {
        let tables = unsafe [ctun_aead_sodium(), ctun_aead_ipsec_mb(), ctun_aead_stitched()]
        return try unsafe tables.compactMap { try unsafe $0.map { try unsafe AEADBench($0) } }
    }

    private init(_ table: UnsafePointer<ctun_aead_backend>) throws {
        name = unsafe String(cString: table.pointee.name)
        guard unsafe ctun_aead_self_test(table), let state = unsafe table.pointee.create() else {
            throw BenchmarkError("the back end \(name) fails its self-test", advice: "Do not use it; see CTun.")
        }
        unsafe self.table = table
        unsafe self.state = state
        unsafe input = .allocate(capacity: Self.capacity)
        unsafe output = .allocate(capacity: Self.capacity)
        unsafe jobs = .allocate(capacity: Self.batch)
        unsafe input.initialize(repeating: 0x5a, count: Self.capacity)
        unsafe output.initialize(repeating: 0, count: Self.capacity)
    }

    deinit {
        unsafe table.pointee.destroy(state)
        unsafe input.deallocate()
        unsafe output.deallocate()
        unsafe jobs.deallocate()
    }

    /// Nanoseconds per message when `batch` messages of `size` bytes are sealed, or opened, in one call.
    ///
    /// The messages of a batch lie one after the other, as in a train, so sizes and caches are those of the path.
    func nanoseconds(size: Int, batch: Int, opening: Bool) -> Double {
        precondition(batch <= Self.batch && (size + 16) * batch <= Self.capacity)
        let key: [UInt8] = Array(0..<32)
        let stride = size + 16
        func prepare(from source: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
            for index in 0..<batch {
                unsafe jobs[index] = ctun_aead_job(
                    input: source + index * stride, output: target + index * stride, counter: UInt64(index),
                    length: UInt32(size), authentic: 0)
            }
        }
        unsafe prepare(from: input, to: output)
        unsafe table.pointee.seal(state, key, jobs, batch)
        // What was sealed is opened into the plaintext's place: the same bytes again.
        if opening { unsafe prepare(from: output, to: input) }
        let call = unsafe opening ? table.pointee.open : table.pointee.seal
        return bestNanoseconds { unsafe call(state, key, jobs, batch) } / Double(batch)
    }
}

/// Nanoseconds of one call: the best round of several, since every disturbance only adds.
func bestNanoseconds(rounds: Int = 15, roundNanoseconds: Double = 4_000_000, _ body: () -> Void) -> Double {
    func time(_ count: Int) -> Double {
        let start = now()
        for _ in 0..<count { body() }
        return Double(now() - start)
    }
    _ = time(10)
    let single = max(time(20) / 20, 1)
    let count = max(1, Int(roundNanoseconds / single))
    return (0..<rounds).map { _ in time(count) / Double(count) }.min() ?? single
}

/// CLOCK_MONOTONIC in nanoseconds.
func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
