/// The file nsswitch.conf(5), which says who looks names up.
enum NameServiceSwitch {
    private static let resolved = "resolve"

    /// The text with `dns` in the place of systemd-resolved, which is asked by a socket in the file system and would look up
    /// outside of a namespace what was asked inside; nil where nothing is to be changed.
    static func withoutResolved(_ text: String) -> String? {
        var isChanged = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.hasPrefix("hosts:") else { return String(line) }
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let position = words.firstIndex(of: resolved) else { return String(line) }
            isChanged = true
            var rest = words[(position + 1)...]
            // Its conditions go with it: [!UNAVAIL=return]
            if rest.first?.hasPrefix("[") == true {
                rest = (rest.firstIndex { $0.hasSuffix("]") }).map { rest[($0 + 1)...] } ?? []
            }
            let dns = rest.contains("dns") ? [] : ["dns"]
            return (words[..<position] + dns + rest).joined(separator: " ")
        }
        return isChanged ? lines.joined(separator: "\n") : nil
    }
}
