import Glibc

/// The memory of a process over a load, looked at twice a second.
struct MemoryCurve {
    let process: pid_t
    private var next: Duration = .zero
    private var samples: [(at: Duration, usage: MemoryUsage)] = []

    init(process: pid_t) { self.process = process }

    /// Takes a sample when it is time.
    mutating func sample(at time: Duration) {
        guard time >= next else { return }
        next = time + .milliseconds(500)
        if let usage = MemoryUsage.of(process) { add(usage, at: time) }
    }

    mutating func add(_ usage: MemoryUsage, at time: Duration) { samples.append((time, usage)) }

    /// The largest values.
    var peak: MemoryUsage? {
        guard let resident = samples.map(\.usage.resident).max(), let anonymous = samples.map(\.usage.anonymous).max()
        else { return nil }
        return MemoryUsage(resident: resident, anonymous: anonymous)
    }

    /// Resident megabytes gained between the first fifth, in which buffers fill, and the end.
    var growth: Double? {
        guard let last = samples.last, let first = samples.first(where: { $0.at >= last.at / 5 }) else { return nil }
        return last.usage.resident - first.usage.resident
    }
}
