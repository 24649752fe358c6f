import Foundation

/// What the figures were measured on.
struct MachineDescription: Encodable {
    let processor: String
    let cores: Int
    let memoryMegabytes: Int
    let kernel: String
    /// One-minute load average before the run; above about 0.3 the machine was not quiet.
    let load: String
    let date: String
    let isOptimized: Bool

    static func current() -> MachineDescription {
        let load = read("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "?"
        #if DEBUG
            let isOptimized = false
        #else
            let isOptimized = true
        #endif
        return MachineDescription(
            processor: processorName(read("/proc/cpuinfo")),
            cores: ProcessInfo.processInfo.activeProcessorCount,
            memoryMegabytes: Int(ProcessInfo.processInfo.physicalMemory / 1_000_000),
            kernel: read("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines),
            load: load,
            date: Date.now.formatted(.iso8601),
            isOptimized: isOptimized)
    }

    /// The model name and the widest vector instructions of /proc/cpuinfo.
    static func processorName(_ text: String) -> String {
        func field(_ name: String) -> Substring? {
            text.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: ":", maxSplits: 1).last
        }
        let model = field("model name").map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        let flags = Set(field("flags")?.split(separator: " ") ?? [])
        let vectors = ["avx512ifma": "AVX-512 IFMA", "avx512f": "AVX-512", "avx2": "AVX2"]
        let widest = ["avx512ifma", "avx512f", "avx2"].first { flags.contains(Substring($0)) }
        return [model, widest.flatMap { vectors[$0] }].compactMap(\.self).joined(separator: ", ")
    }

    /// Title and text of each line of a report's head.
    var lines: [(String, String)] {
        let machine = ("machine", "\(processor); \(cores) cores, \(memoryMegabytes) MB; Linux \(kernel)")
        let when = ("date", "\(date), load average before the run \(load)")
        return isOptimized
            ? [machine, when] : [machine, when, ("WARNING", "a debug build: figures of our own code mean nothing")]
    }

    private static func read(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
