/// Finds what somebody probably meant.
public enum Suggestion {
    /// The candidates that are closest to `text` by edit distance, the closest first.
    ///
    /// - Parameters:
    ///   - text: What was given.
    ///   - candidates: What there is.
    ///   - limit: The most answers.
    ///   - distance: The largest distance that counts as close; nil for any.
    /// - Returns: At most `limit` of the candidates.
    public static func closest(
        to text: String, in candidates: [String], limit: Int, within distance: Int? = nil
    ) -> [String] {
        // A longer text is no slip of the fingers, and the table grows with the product of the lengths.
        let text = String(text.prefix(200)).lowercased()
        let ranked = candidates.map { (candidate: $0, distance: editDistance(text, $0.lowercased())) }
        return ranked.filter { $0.distance <= distance ?? .max }
            .sorted { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
            .prefix(limit).map(\.candidate)
    }

    /// The least number of insertions, removals, replacements and swaps of neighbours that turn one text into the other.
    static func editDistance(_ first: String, _ second: String) -> Int {
        let first = Array(first.utf8)
        let second = Array(second.utf8)
        guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
        var beforeLast = [Int](repeating: 0, count: second.count + 1)
        var last = Array(0...second.count)
        for row in 1...first.count {
            var current = [row] + [Int](repeating: 0, count: second.count)
            for column in 1...second.count {
                let replaced = last[column - 1] + (first[row - 1] == second[column - 1] ? 0 : 1)
                current[column] = min(last[column] + 1, current[column - 1] + 1, replaced)
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    current[column] = min(current[column], beforeLast[column - 2] + 1)
                }
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
