/// An option that a suite takes: a flag, or with `value` (its placeholder) one that takes a value.
struct Option: Sendable {
    let name: String
    let value: String?
    let help: String

    init(_ name: String, _ value: String? = nil, help: String) {
        self.name = name
        self.value = value
        self.help = help
    }

    static let json = Option("--json", help: "one JSON object in place of the table")
}

/// One subject of measurement with its own options; it adds its figures to the report.
struct Suite: Sendable {
    let name: String
    let summary: String
    let options: [Option]
    let run: @Sendable (Options, inout Report) throws -> Void

    init(
        _ name: String, _ summary: String, options: [Option],
        run: @escaping @Sendable (Options, inout Report) throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.options = options + [.json]
        self.run = run
    }

    var usage: String {
        let heads = options.map { [$0.name, $0.value].compactMap(\.self).joined(separator: " ") }
        let width = heads.map(\.count).max() ?? 0
        let lines = zip(heads, options).map { "  \(pad($0, to: width))  \($1.help)" }
        return "Benchmarks \(name): \(summary)\n\n" + lines.joined(separator: "\n")
    }
}

/// The options of one run, each known to its suite.
struct Options {
    private var values: [String: String] = [:]

    /// Reads `--name`, `--name value` and `--name=value`; throws a usage error on anything that the suite does not take.
    init(_ arguments: [String], of suite: Suite) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = suite.options.first(where: { $0.name == parts[0] }) else {
                throw BenchmarkError.usage(
                    "'\(argument)' is no option of \(suite.name)",
                    advice: "It takes \(suite.options.map(\.name).joined(separator: ", ")).")
            }
            guard values[option.name] == nil else {
                throw BenchmarkError.usage("\(option.name) is given twice", advice: "Give it once.")
            }
            guard let placeholder = option.value else {
                guard parts.count == 1 else {
                    throw BenchmarkError.usage("\(option.name) takes no value", advice: "Leave '=\(parts[1])' out.")
                }
                values[option.name] = ""
                continue
            }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                throw BenchmarkError.usage(
                    "\(option.name) has no value", advice: "Write \(option.name) \(placeholder).")
            }
            values[option.name] = value
        }
    }

    /// Whether the option is given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value that is given, or nil.
    func text(_ name: String) -> String? { values[name] }

    /// A number within `range`, or `standard` when the option is not given.
    func number(_ name: String, standard: Int, in range: ClosedRange<Int>) throws -> Int {
        try numbers(name, standard: [standard], in: range, single: true)[0]
    }

    /// Numbers within `range`, separated by commas.
    func numbers(_ name: String, standard: [Int], in range: ClosedRange<Int>, single: Bool = false) throws -> [Int] {
        guard let text = values[name] else { return standard }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard !single || numbers.count == 1, numbers.allSatisfy({ $0.map(range.contains) ?? false }) else {
            throw BenchmarkError.usage(
                "\(name) is '\(text)'",
                advice: "Give \(single ? "a number" : "numbers") from \(range.lowerBound) to \(range.upperBound).")
        }
        return numbers.compactMap(\.self)
    }
}
