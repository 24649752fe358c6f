/// The policy in a wg-quick file: comment lines of `[Interface]`, which other programs pass over.
extension PushPolicy {
    /// The name of ``sourceKey`` in a file.
    private static let sourceName = "settings"

    /// Sets what the comment lines of a file say, like `# settings = pushRequired`; other comments are not looked at.
    ///
    /// - Returns: The numbers of the lines by their names, from 1.
    /// - Throws: The line that cannot be used.
    @discardableResult
    public mutating func readComments(ofFile text: String) throws(PolicyLineError) -> [String: Int] {
        var numbers: [String: Int] = [:]
        var isInterface = false
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = Self.trimmed(line)
            if line.hasPrefix("[") { isInterface = line.lowercased().hasPrefix("[interface]") }
            guard isInterface, line.hasPrefix("#") else { continue }
            let parts = line.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = Self.trimmed(parts[0])
            let key = name == Self.sourceName ? Self.sourceKey : name
            try set(key, to: Self.trimmed(parts[1]))
            if Self.keys.contains(key) { numbers[key] = index + 1 }
        }
        return numbers
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
