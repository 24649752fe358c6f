extension Report {
    /// The report that a person reads: machine and command, the table of medians, then every sample.
    var text: String {
        let width = 9
        var lines = ["", "\(pad("command", to: width))\(command)"]
        lines += machine.lines.map { pad($0.0, to: width) + $0.1 }
        lines += notes.enumerated().map { pad($0.offset == 0 ? "method" : "", to: width) + $0.element }
        lines += ["", Table(rows: tableRows).text]
        let raw = rawLines
        if !raw.isEmpty { lines += ["", "Samples"] + raw }
        return lines.joined(separator: "\n")
    }

    private var tableRows: [[String]] {
        let subjects = subjects
        let compared = showsRatios ? Array(subjects.dropFirst()) : []
        let ratioTitles = compared.count == 1 ? ["ratio"] : compared.map { "ratio to \($0)" }
        var rows = [["", ""] + subjects + ratioTitles]
        let shown = measurements.filter { !$0.isDetail }
        // A group for each unit, so that throughput stands together and what it cost below.
        let groups = firstOccurrences(shown.map(\.unit)).map { unit in shown.filter { $0.unit == unit } }
        let keys = groups.map { firstOccurrences($0.map { [$0.name, $0.unit] }) }.joined(separator: [[]])
        for key in keys {
            guard !key.isEmpty else {
                rows.append([])
                continue
            }
            let medians = subjects.map { median(key[0], unit: key[1], subject: $0) }
            let ratios = compared.indices.map { index -> String in
                guard let first = medians[0], let other = medians[index + 1], other != 0 else { return "-" }
                return figure(first / other)
            }
            rows.append(key + medians.map { $0.map(figure) ?? "-" } + ratios)
        }
        return rows
    }

    private var rawLines: [String] {
        // Details that are zero, such as counts that should be, say nothing that the table does not.
        let shown = measurements.filter {
            $0.isDetail ? $0.samples.contains { $0 != 0 } : $0.samples.count > 1
        }
        let rows = shown.map { [$0.name, $0.unit, $0.subject, $0.samples.map(figure).joined(separator: "  ")] }
        return rows.isEmpty ? [] : [Table(rows: rows, leftColumns: 4).text]
    }
}

/// Rows of text in aligned columns; the first `leftColumns` are aligned to the left, the others to the right.
struct Table {
    let rows: [[String]]
    var leftColumns = 2

    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { pad($1, to: widths[$0], leading: $0 >= leftColumns) }
            let line = "  " + cells.joined(separator: "   ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
