import Foundation

/// The samples of one quantity of one subject.
struct Measurement: Encodable {
    /// What is measured: the row, such as `TCP, 1 stream`.
    let name: String
    let unit: String
    /// Who is measured: the column, such as `ours`.
    let subject: String
    var samples: [Double]
    /// Rows that explain a figure stand under the table, with every sample, and not in it.
    let isDetail: Bool

    var median: Double { Benchmarks.median(samples) ?? .nan }

    private enum CodingKeys: String, CodingKey { case name, unit, subject, median, samples, isDetail }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encode(subject, forKey: .subject)
        try container.encode(Benchmarks.median(samples), forKey: .median)
        try container.encode(samples, forKey: .samples)
        try container.encode(isDetail, forKey: .isDetail)
    }
}

/// The figures of a run with what is needed to judge and repeat them.
struct Report: Encodable {
    let schema = "providerhost.benchmarks/1"
    let suite: String
    let command: String
    var machine = MachineDescription.current()
    /// How it was measured, a sentence each.
    var notes: [String] = []
    private(set) var measurements: [Measurement] = []
    /// Whether the first subject is compared with the others.
    var showsRatios = false
    /// What a check found wrong; the run then fails.
    var failures: [String] = []

    init(suite: String, command: String) {
        self.suite = suite
        self.command = command
    }

    private enum CodingKeys: String, CodingKey { case schema, suite, command, machine, notes, measurements, failures }

    /// Adds a sample to the measurement of that name and subject.
    mutating func add(_ value: Double, _ name: String, unit: String, subject: String, isDetail: Bool = false) {
        if let index = measurements.firstIndex(where: {
            $0.name == name && $0.subject == subject && $0.unit == unit
        }) {
            measurements[index].samples.append(value)
        } else {
            measurements.append(
                Measurement(name: name, unit: unit, subject: subject, samples: [value], isDetail: isDetail))
        }
    }

    /// The subjects in the order of their first figure.
    var subjects: [String] { firstOccurrences(measurements.map(\.subject)) }

    func median(_ name: String, unit: String, subject: String) -> Double? {
        measurements.first { $0.name == name && $0.unit == unit && $0.subject == subject }?.median
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// The values without repetitions, each where it came first.
func firstOccurrences<Value: Hashable>(_ values: [Value]) -> [Value] {
    var seen: Set<Value> = []
    return values.filter { seen.insert($0).inserted }
}
