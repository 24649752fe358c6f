import Foundation

/// A bar chart of medians: a group for each row, a bar for each subject, the ratio of the first subject above the others.
struct Chart {
    let title: String
    let unit: String
    let subjects: [String]
    let rows: [(name: String, values: [Double?])]

    /// The rows of a report that have this unit and are no details.
    init(_ report: Report, unit: String) {
        title = "\(report.machine.processor), \(report.machine.cores) cores, Linux \(report.machine.kernel)"
        self.unit = unit
        let shown = report.measurements.filter { $0.unit == unit && !$0.isDetail }
        let subjects = firstOccurrences(shown.map(\.subject))
        self.subjects = subjects
        rows = firstOccurrences(shown.map(\.name)).map { name in
            (name, subjects.map { report.median(name, unit: unit, subject: $0) })
        }
    }

    /// Draws the chart; throws when there is nothing to draw or gnuplot fails.
    func draw(file: String) throws {
        guard !rows.isEmpty else {
            throw BenchmarkError(
                "there is no row in \(unit) to plot", advice: "Measure --tcp, --udp or --bidirectional.")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("phbench-plot-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appendingPathComponent("chart.gp")
        try Data(self.script(output: file).utf8).write(to: script)
        try Child.run(["gnuplot", script.path], in: folder, seconds: 30)
    }

    private static let colours = ["#1f6f8b", "#9bc1bc", "#c8c8c8", "#8a8a8a"]

    /// The gnuplot program that writes the chart as SVG.
    func script(output: String) -> String {
        let width = 1.0 / (Double(subjects.count) + 1)
        let top = rows.flatMap { $0.values }.compactMap(\.self).max() ?? 1
        var labels: [String] = []
        for (group, row) in rows.enumerated() {
            for (bar, value) in row.values.enumerated() {
                guard let value else { continue }
                let x = Double(group) + (Double(bar) - Double(subjects.count - 1) / 2) * width
                var text = figure(value)
                if bar > 0, let first = row.values[0], value > 0 {
                    text += "\\nx \(figure(first / value))"
                }
                let lift = bar > 0 ? 0.09 : 0.035
                labels.append(
                    "set label \(quoted(text)) at \(x), \(value + top * lift) center noenhanced font ',11'")
            }
        }
        let data = rows.map { row in
            ([quoted(row.name)] + row.values.map { $0.map { "\($0)" } ?? "NaN" }).joined(separator: " ")
        }
        let plots = subjects.enumerated().map { index, subject in
            let colour = Self.colours[index % Self.colours.count]
            let source = index == 0 ? "$data using 2:xtic(1)" : "'' using \(index + 2)"
            return "\(source) title \(quoted(subject)) linecolor rgb '\(colour)'"
        }
        let subtitle = subjects.count > 1 ? "\\nx N: \(subjects[0]) is N times this" : ""
        return """
            set terminal svg size \(260 + 240 * rows.count),420 dynamic font 'sans-serif,13' background '#ffffff'
            set output \(quoted(output))
            set title \(quoted(title + subtitle)) noenhanced
            set style data histograms
            set style histogram clustered gap 1
            set style fill solid 1.0 noborder
            set boxwidth 0.92
            set yrange [0:\(top * 1.2)]
            set xrange [-0.6:\(Double(rows.count) - 0.4)]
            set ylabel \(quoted(unit))
            set grid ytics linecolor rgb '#e0e0e0'
            set border 3
            set tics nomirror noenhanced
            set key outside right top noenhanced
            \(labels.joined(separator: "\n"))
            $data << EOD
            \(data.joined(separator: "\n"))
            EOD
            plot \(plots.joined(separator: ", "))

            """
    }

    /// A double-quoted gnuplot string; the `\n` of a label stays an escape.
    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\"", with: "'").replacing("`", with: "'") + "\""
    }
}
