import Foundation
import Testing

@testable import Benchmarks

@Suite struct ReportTests {
    private func sample() -> Report {
        var report = Report(suite: "tunnel", command: "Benchmarks tunnel")
        report.showsRatios = true
        for value in [4.0, 6, 5] { report.add(value, "TCP, 1 stream", unit: "Gb/s", subject: "ours") }
        for value in [0.5, 0.4, 0.6] { report.add(value, "TCP, 1 stream", unit: "Gb/s", subject: "wireguard-go") }
        report.add(2, "lost", unit: "%", subject: "ours", isDetail: true)
        return report
    }

    @Test func `the table shows medians and their ratio, then every sample`() throws {
        let lines = sample().text.split(separator: "\n").map(String.init)
        let row = try #require(lines.first { $0.contains("TCP, 1 stream") })
        #expect(row.split(separator: " ").map(String.init) == ["TCP,", "1", "stream", "Gb/s", "5.00", "0.500", "10.0"])
        #expect(lines.contains { $0.hasSuffix("ours           4.00  6.00  5.00") })
        let head = try #require(lines.firstIndex(of: "Samples"))
        #expect(lines[head...].contains { $0.contains("lost") } && !lines[..<head].contains { $0.contains("lost") })
    }

    @Test func `a subject without a figure has a dash`() {
        var report = sample()
        report.add(70, "ping", unit: "us", subject: "wireguard-go")
        let row = report.text.split(separator: "\n").first { $0.contains("ping") } ?? ""
        #expect(row.split(separator: " ").suffix(3) == ["-", "70.0", "-"])
    }

    @Test func `the columns of a table are aligned`() {
        let table = Table(rows: [["", "", "ours"], ["a", "Gb/s", "1"], ["longer", "us", "1,234"]])
        #expect(table.text == "                   ours\n  a        Gb/s       1\n  longer   us     1,234")
    }

    @Test func `the JSON has a schema, the command and every sample`() throws {
        let object = try JSONSerialization.jsonObject(with: Data(sample().json().utf8))
        let root = try #require(object as? [String: Any])
        #expect(root["schema"] as? String == "providerhost.benchmarks/1")
        #expect(root["command"] as? String == "Benchmarks tunnel")
        let measurements = try #require(root["measurements"] as? [[String: Any]])
        #expect(measurements.first?["samples"] as? [Double] == [4, 6, 5])
        #expect(measurements.first?["median"] as? Double == 5)
    }

    @Test func `the chart has a bar for each subject and the ratio above the others`() {
        let script = Chart(sample(), unit: "Gb/s").script(output: "out.svg")
        #expect(script.contains("\"TCP, 1 stream\" 5.0 0.5"))
        #expect(script.contains("'' using 3 title \"wireguard-go\""))
        #expect(script.contains("0.500\\nx 10.0"))
    }
}

@Suite struct ThresholdTests {
    private func thresholds(_ text: String) throws -> PathThresholds {
        try JSONDecoder().decode(PathThresholds.self, from: Data(text.utf8))
    }

    @Test func `a count above its threshold fails the check, a time does not`() throws {
        let limits = try thresholds(#"{"allocationsPerMillion": 0, "referencesPerMillion": 2, "movedBytes": 0}"#)
        var report = Report(suite: "path", command: "")
        report.add(9999, "TCP, seal", unit: "ns", subject: "libsodium")
        report.add(0, "TCP, seal", unit: "allocations/M", subject: "libsodium", isDetail: true)
        report.add(2, "TCP, seal", unit: "references/M", subject: "libsodium", isDetail: true)
        #expect(limits.failures(in: report).isEmpty)
        report.add(1, "UDP, open", unit: "allocations/M", subject: "libsodium", isDetail: true)
        report.add(1368, "UDP, moved payload", unit: "bytes", subject: "libsodium", isDetail: true)
        #expect(limits.failures(in: report).count == 2)
    }

    @Test func `a threshold file that is wrong is a usage error`() {
        let error = #expect(throws: BenchmarkError.self) { try PathThresholds(file: "/nonexistent/path.json") }
        #expect(error?.kind == .usage)
    }

    @Test func `a sample packet has the lengths that its headers say`() {
        for sample in SamplePacket.all {
            let packet = sample.bytes.dropFirst(10)
            let total = Int(packet[12]) << 8 + Int(packet[13])
            #expect(total == packet.count && packet[10] == 0x45, "\(sample.name)")
        }
    }
}
