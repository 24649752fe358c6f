/// The policy in a wg-quick file: comment lines of `[Interface]`, which other programs pass over.
extension PushPolicy {
    /// The name of ``sourceKey`` in a file.
    private static let sourceName = "settings"

    /// Sets what the comment lines of a file say, like `# settings = pushRequired`; other comments are not looked at.
    ///
    /// - Throws: The line that cannot be used.
    public mutating func readComments(ofFile text: String) throws(PolicyLineError) {
        var isInterface = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("[") { isInterface = line.lowercased().hasPrefix("[interface]") }
            guard isInterface, line.hasPrefix("#") else { continue }
            let parts = line.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = Self.trimmed(parts[0])
            try set(name == Self.sourceName ? Self.sourceKey : name, to: Self.trimmed(parts[1]))
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
