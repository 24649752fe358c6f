import Foundation
import Glibc

/// What processes used, as /proc tells it.
struct ProcessUsage {
    /// Seconds of all threads.
    var user: Double = 0
    var system: Double = 0

    static func + (left: ProcessUsage, right: ProcessUsage) -> ProcessUsage {
        ProcessUsage(user: left.user + right.user, system: left.system + right.system)
    }

    static func - (left: ProcessUsage, right: ProcessUsage) -> ProcessUsage {
        ProcessUsage(user: left.user - right.user, system: left.system - right.system)
    }

    /// The processor time of a process until now; nothing when it is gone.
    static func processor(of process: pid_t) -> ProcessUsage {
        parse(stat: read("/proc/\(process)/stat"), ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// utime and stime, fields 14 and 15 of proc_pid_stat(5); the name in field 2 may hold spaces and parentheses.
    static func parse(stat: String, ticksPerSecond: Double) -> ProcessUsage {
        guard let end = stat.lastIndex(of: ")") else { return ProcessUsage() }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            return ProcessUsage()
        }
        return ProcessUsage(user: user / ticksPerSecond, system: system / ticksPerSecond)
    }

    /// The processes that the threads of a process started.
    static func children(of process: pid_t) -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return threads.flatMap { read("/proc/\(process)/task/\($0)/children").split(separator: " ") }
            .compactMap { pid_t($0) }
    }

    private static func read(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}

/// Memory of a process in megabytes (1,000,000 bytes).
struct MemoryUsage: Equatable {
    var resident: Double
    var anonymous: Double

    /// /proc/PID/smaps_rollup, or nil when the process is gone.
    static func of(_ process: pid_t) -> MemoryUsage? {
        (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)).flatMap(parse)
    }

    static func parse(_ text: String) -> MemoryUsage? {
        func megabytes(_ name: String) -> Double? {
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
            let fields = line.split(separator: " ")
            guard fields.count > 1, let kibibytes = Double(fields[1]) else { return nil }
            return kibibytes * 1024 / 1_000_000
        }
        guard let resident = megabytes("Rss:"), let anonymous = megabytes("Anonymous:") else { return nil }
        return MemoryUsage(resident: resident, anonymous: anonymous)
    }
}
