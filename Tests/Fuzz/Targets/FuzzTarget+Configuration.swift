import WireGuard

extension FuzzTarget {
    /// What parses must be written as a file that parses to the same; what does not must give a line of the file.
    static func runWgQuick(_ bytes: [UInt8]) -> Bool {
        do throws(ConfigurationError) {
            let text = try Configuration(wgQuick: bytes.span).wgQuickText
            let again = try? Configuration(wgQuick: text)
            precondition(again?.wgQuickText == text, "a configuration does not survive being written")
            return true
        } catch {
            let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            precondition((1...lineCount).contains(error.line), "an error names no line of the file")
            precondition(error.description.utf8.count < 512, "an error is longer than a line")
            return false
        }
    }
}
