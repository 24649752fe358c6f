import Testing

@testable import Benchmarks

@Suite struct StatisticsTests {
    @Test(
        arguments: [
            ([3.0], 3.0), ([1, 9], 5), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5),
        ] as [([Double], Double)]) func `the median is the middle value`(values: [Double], expected: Double)
    {
        #expect(median(values) == expected)
    }

    @Test func `there is no median of nothing`() {
        #expect(median([]) == nil)
    }

    @Test(
        arguments: [
            (4.9, "4.90"), (0.5523, "0.552"), (12.34, "12.3"), (9.996, "10.0"), (999.6, "1,000"), (1234.5, "1,234"),
            (0, "0"), (0.0123, "0.0123"), (-3.25, "-3.25"), (-1_234_567, "-1,234,567"), (.nan, "-"), (100, "100"),
            (0.0000001, "0.000000"),
        ] as [(Double, String)]) func `a figure has three significant digits`(value: Double, text: String)
    {
        #expect(figure(value) == text)
    }
}
