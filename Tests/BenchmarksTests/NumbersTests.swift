import Testing

@testable import Benchmarks

@Suite struct NumbersTests {
    @Test(arguments: [
        ([0, 1, 2, 3], 0, 0), ([0, 2, 3], 1, 0), ([0, 1, 3, 2, 4], 1, 1), ([0, 1, 1, 2], 0, 1), ([5], 5, 0),
        ([], 0, 0),
    ])
    func `a receiver sees what is missing, late or repeated`(numbers: [Int], missing: Int, late: Int) {
        var received = NumbersReceived()
        for number in numbers { received.take(number) }
        #expect(received.received == numbers.count && received.missing == missing && received.late == late)
    }

    @Test(arguments: [
        ["numbers"], ["numbers", "send", "10.0.0.1:7", "x", "1"], ["numbers", "send", "nowhere", "1", "1"],
        ["numbers", "receive", "70000"], ["hellos", "/nonexistent", "3"], ["hellos", "/nonexistent", "3", "0"],
        ["gateway", "--peers", "0"],
    ])
    func `wrong arguments are told`(arguments: [String]) {
        #expect(CommandLineTool.run(arguments) == 2)
    }
}
