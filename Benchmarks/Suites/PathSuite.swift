import CAllocationCount
import Foundation
import PacketPath

extension Suite {
    /// The packet path in memory: time, allocations and reference counts per packet in each direction.
    static let path = Suite(
        "path", "packet path in memory: ns, heap allocations and reference counts per packet, each direction",
        options: [
            Option("--packets", "N", help: "packets of each row (default 1000000)"),
            Option(
                "--check", "FILE",
                help: "fail when a count is above the file's, such as Benchmarks/Thresholds/path.json"),
        ]
    ) { options, report in
        let packets = try options.number("--packets", standard: 1_000_000, in: 1_000...1_000_000_000)
        let thresholds = try options.text("--check").map(PathThresholds.init(file:))
        guard allocation_count_install() else {
            throw BenchmarkError(
                "allocations and reference counts cannot be counted here",
                advice: "Use Swift 6.2 or later, and no sanitizer.")
        }
        try PathLoop.Cost.checkCounting()
        report.notes = [
            "one thread, no system call but two clock reads a train; seal: checksum, header, cipher, framing; open: cipher, joining, all packets kept",
            "\(figure(Double(packets))) packets a row; allocations and references are counted in the calling thread",
        ]
        var backends = [AEADBackend.select(PathOptions()), .sodium, CopyingBackend.backend]
        if backends[0].name == backends[1].name { backends.removeFirst() }
        for shape in SamplePacket.all {
            for backend in backends {
                try measure(shape, backend, packets: packets, into: &report)
            }
        }
        for unit in PathThresholds.units {
            for subject in report.subjects {
                let all = report.measurements.filter { $0.unit == unit && $0.subject == subject }
                report.add(all.map(\.median).max() ?? .nan, "the most of any row", unit: unit, subject: subject)
            }
        }
        if let thresholds { report.failures = thresholds.failures(in: report) }
    }

    private static func measure(
        _ shape: SamplePacket, _ backend: AEADBackend, packets: Int, into report: inout Report
    ) throws {
        var loop = try PathLoop(shape, backend: backend)
        var (sending, receiving) = (PathLoop.Cost(), PathLoop.Cost())
        for _ in 0..<200 { try loop.turn(&sending, &receiving) }
        (sending, receiving) = (PathLoop.Cost(), PathLoop.Cost())
        let turns = packets / loop.packets + 1
        for turn in 0..<turns {
            if turn % 4096 == 0 { try Interruption.check() }
            try loop.turn(&sending, &receiving)
        }
        try loop.check()
        let total = Double(turns * loop.packets)
        for (direction, cost) in [("seal", sending), ("open", receiving)] {
            let name = "\(shape.name), \(direction)"
            report.add(Double(cost.nanoseconds) / total, name, unit: "ns", subject: backend.name)
            for (unit, count) in [("allocations/M", cost.allocations), ("references/M", cost.references)] {
                report.add(Double(count) * 1e6 / total, name, unit: unit, subject: backend.name, isDetail: true)
            }
        }
        report.add(
            loop.movedBytesPerPacket, "\(shape.name), moved payload", unit: "bytes", subject: backend.name,
            isDetail: true)
    }
}

/// The most that the counts of the path suite may be; times are noise and have no threshold.
struct PathThresholds: Decodable {
    /// Per million packets.
    let allocationsPerMillion: Double
    let referencesPerMillion: Double
    /// Per packet of a super-packet.
    let movedBytes: Double

    init(file: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw BenchmarkError.usage(
                "\(file) is no threshold file: \(error)", advice: "See Benchmarks/Thresholds/path.json.")
        }
    }

    /// The units of what is compared with a threshold.
    static let units = ["allocations/M", "references/M", "bytes"]

    /// A sentence for each measurement that is above its threshold.
    func failures(in report: Report) -> [String] {
        let limits = Dictionary(
            uniqueKeysWithValues: zip(Self.units, [allocationsPerMillion, referencesPerMillion, movedBytes]))
        return report.measurements.filter(\.isDetail).compactMap { measurement in
            guard let limit = limits[measurement.unit], measurement.median > limit else { return nil }
            return "\(measurement.name), \(measurement.subject): \(figure(measurement.median)) \(measurement.unit)"
                + " are more than the \(figure(limit)) of the threshold file"
        }
    }
}
