import Testing

@testable import Benchmarks

@Suite struct OptionsTests {
    private let suite = Benchmarks.Suite(
        "sample", "a suite of the test",
        options: [Option("--flag", help: "a flag"), Option("--count", "N", help: "numbers")]
    ) { _, _ in }

    @Test(arguments: [["--count", "7", "--flag"], ["--flag", "--count=7"]])
    func `both forms of a value are read`(arguments: [String]) throws {
        let options = try Options(arguments, of: suite)
        #expect(options.has("--flag") && !options.has("--json"))
        #expect(try options.number("--count", standard: 1, in: 1...9) == 7)
    }

    @Test func `an option that is not given has its standard value`() throws {
        let options = try Options([], of: suite)
        #expect(try options.number("--count", standard: 3, in: 1...9) == 3)
        #expect(options.text("--count") == nil)
    }

    @Test func `a list keeps its order`() throws {
        let options = try Options(["--count", "4,1"], of: suite)
        #expect(try options.numbers("--count", standard: [1], in: 1...9) == [4, 1])
    }

    @Test(arguments: [
        ["--other"], ["word"], ["--flag=1"], ["--count"], ["--count="], ["--flag", "--flag"],
    ]) func `a wrong option is a usage error`(arguments: [String]) {
        let error = #expect(throws: BenchmarkError.self) { try Options(arguments, of: suite) }
        #expect(error?.kind == .usage)
    }

    @Test(arguments: ["0", "10", "x", "", "1,2", "1,"])
    func `a wrong number is a usage error`(text: String) {
        let error = #expect(throws: BenchmarkError.self) {
            try Options(["--count", text], of: suite).number("--count", standard: 1, in: 1...9)
        }
        #expect(error?.kind == .usage)
    }

    @Test(
        arguments: [
            (["nosuch"], 2), (["tunnel", "--nosuch"], 2), (["tunnel", "--seconds", "0"], 2), ([], 0), (["--help"], 0),
            (["tunnel", "--help"], 0), (["attack", "--only", "nosuch"], 2), (["attack", "--count", "20001"], 2),
            (["blast"], 2), (["sink", "x"], 2),
        ] as [([String], Int32)]) func `the exit status tells a wrong command line`(arguments: [String], status: Int32)
    {
        #expect(CommandLineTool.run(arguments) == status)
    }
}
