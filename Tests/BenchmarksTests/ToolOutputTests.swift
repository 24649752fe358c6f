import Testing

@testable import Benchmarks

@Suite struct ToolOutputTests {
    @Test func `a TCP report of iperf3 gives what arrived`() throws {
        let report = try IperfReport(
            """
            {"start": {}, "end": {
              "sum_sent": {"seconds": 5.0, "bytes": 3000000000, "bits_per_second": 4800000000.0},
              "sum_received": {"seconds": 5.0, "bytes": 2500000000, "bits_per_second": 4000000000.0, "sender": true},
              "sender_tcp_congestion": "cubic"}}
            """)
        #expect(report.gigabits == 4 && report.gigabytes == 2.5 && report.lossPercent == nil)
    }

    @Test func `both directions are added`() throws {
        let report = try IperfReport(
            """
            {"end": {
              "sum_received": {"seconds": 1, "bytes": 125000000, "bits_per_second": 1000000000},
              "sum_received_bidir_reverse": {"seconds": 1, "bytes": 250000000, "bits_per_second": 2000000000}}}
            """)
        #expect(report.gigabits == 3 && report.gigabytes == 0.375)
    }

    @Test func `UDP goodput counts the datagrams that arrived`() throws {
        let report = try IperfReport(
            """
            {"end": {"sum_received": {"seconds": 2, "bytes": 999, "bits_per_second": 999,
              "packets": 1000000, "lost_packets": 250000}}}
            """, datagramLength: 1000)
        #expect(report.gigabits == 3 && report.gigabytes == 0.75 && report.lossPercent == 25)
    }

    @Test(arguments: [
        ("", "is not its JSON report"), ("{\"end\": {}}", "end.sum_received"),
        ("{\"end\": {}, \"error\": \"unable to connect to server: Connection refused\"}", "Connection refused"),
    ]) func `a report without figures says why`(text: String, cause: String) {
        let error = #expect(throws: BenchmarkError.self) { try IperfReport(text) }
        #expect(error?.cause.contains(cause) == true)
    }

    @Test func `the average of ping is in microseconds`() throws {
        let report = try PingReport(
            """
            --- 10.7.0.1 ping statistics ---
            200 packets transmitted, 200 received, 0% packet loss, time 996ms
            rtt min/avg/max/mdev = 0.045/0.067/0.123/0.012 ms
            """)
        #expect(report.averageMicroseconds == 67)
    }

    @Test func `a lost ping is an error`() {
        let text = "200 packets transmitted, 180 received, 10% packet loss, time 1ms\nrtt min/avg/max/mdev = 1/2/3/4 ms"
        #expect(throws: BenchmarkError.self) { try PingReport(text) }
    }

    @Test func `a process name with spaces and parentheses does not shift the fields`() {
        let usage = ProcessUsage.parse(
            stat: "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 250 150 7 8 20 0 1 0 9 10 11", ticksPerSecond: 100)
        #expect(usage.user == 2.5 && usage.system == 1.5)
    }

    @Test func `memory is in megabytes`() {
        let usage = MemoryUsage.parse("00400000 [rollup]\nRss:    31250 kB\nPss:  1 kB\nAnonymous:   7812 kB\n")
        #expect(usage == MemoryUsage(resident: 32, anonymous: 7.999488))
        #expect(MemoryUsage.parse("") == nil)
    }

    @Test func `growth begins after the first fifth`() throws {
        var curve = MemoryCurve(process: 0)
        for (second, resident) in [(0, 1.0), (1, 9.0), (2, 10.0), (5, 12.0), (10, 10.5)] {
            curve.add(MemoryUsage(resident: resident, anonymous: resident / 2), at: .seconds(second))
        }
        #expect(curve.peak == MemoryUsage(resident: 12, anonymous: 6))
        #expect(curve.growth == 0.5)
    }

    @Test func `the processor is named with its vectors`() {
        let text = "processor\t: 0\nmodel name\t: Sample CPU\nflags\t\t: fpu avx2 avx512f\n"
        #expect(MachineDescription.processorName(text) == "Sample CPU, AVX-512")
        #expect(MachineDescription.processorName("") == "unknown processor")
    }
}
