import Foundation
import Glibc

extension Suite {
    /// Real tunnels between two network namespaces, ours and another program in turn.
    static let tunnel = Suite(
        "tunnel", "throughput, latency and memory through real tunnels, ours against wireguard-go in turn",
        options: TunnelPlan.options
    ) { options, report in
        let plan = try TunnelPlan(options)
        report.showsRatios = true
        report.notes = plan.notes
        for run in 1...plan.runs {
            for contender in plan.contenders {
                CommandLineTool.say("run \(run) of \(plan.runs): \(contender.label)")
                try Lab.run(tunnelMTU: plan.mtu) { lab in
                    let ends = try contender.start(in: lab, mtu: plan.mtu)
                    let way = contender.way(in: lab)
                    var session = TunnelSession(
                        plan: plan, lab: lab, ends: ends, subject: contender.label, client: way.client,
                        target: way.target)
                    for measure in plan.measures where contender.carries(measure) {
                        try session.measure(measure, into: &report)
                    }
                }
            }
        }
        if let file = plan.plot { try Chart(report, unit: "Gb/s").draw(file: file) }
    }
}

extension TunnelPlan {
    fileprivate var notes: [String] {
        let others = contenders.compactMap { contender -> String? in
            guard case .other(let program) = contender else { return nil }
            return "\(contender.label) = \(program), \(version(of: program))"
        }
        let control = (try? String(contentsOfFile: "/proc/sys/net/ipv4/tcp_congestion_control", encoding: .utf8)) ?? "?"
        let name = congestion ?? control.trimmingCharacters(in: .whitespacesAndNewlines)
        let crowds = contenders.compactMap { contender in
            contender.crowd.map {
                "\(contender.label) = ours, the receiving end beside \($0.count) more peers, each after a handshake over UDP"
            }
        }
        return [
            "both ends and iperf3 on this machine, two namespaces joined by veth, tunnel MTU \(mtu), TCP \(name)",
            "\(seconds) s per load, \(runs == 1 ? "1 run" : "median of \(runs) runs, contenders in turn, fresh tunnels")",
        ] + crowds + others
    }

    private func version(of program: String) -> String {
        let folder = FileManager.default.temporaryDirectory
        guard let child = try? Child(["timeout", "2", program, "--version"], in: folder) else {
            return "version unknown"
        }
        defer { child.removeFiles() }
        guard (try? child.wait(seconds: 5)) == .status(0), let line = child.text.split(separator: "\n").first else {
            return "version unknown"
        }
        return String(line.prefix(80))
    }
}

/// A tunnel that is up, and the loads that are put on it.
struct TunnelSession {
    let plan: TunnelPlan
    let lab: Lab
    let ends: [TunnelEnd]
    let subject: String
    let client: Machine
    /// The address by which the client reaches the server.
    let target: String

    private static let port = "5201"

    mutating func measure(_ measure: TunnelPlan.Measure, into report: inout Report) throws {
        let name = measure.name
        switch measure {
        case .latency:
            let output = try client.run("ping", "-c", "200", "-i", "0.005", "-q", target, seconds: 30)
            report.add(try PingReport(output).averageMicroseconds, name, unit: "us", subject: subject)
        case .datagrams:
            let length = "\(TunnelPlan.datagramLength)"
            let result = try load(name, ["-u", "-b", "0", "-l", length], datagrams: true, into: &report)
            if let loss = result.lossPercent {
                report.add(loss, "\(name): lost", unit: "%", subject: subject, isDetail: true)
            }
        case .stream(let streams), .bidirectional(let streams):
            var options = ["-P", "\(streams)"]
            if case .bidirectional = measure { options.append("--bidir") }
            if let congestion = plan.congestion { options += ["-C", congestion] }
            _ = try load(name, options, datagrams: false, into: &report)
        }
    }

    /// Runs iperf3 towards the left end, and reports what the tunnel's processes used meanwhile.
    private func load(
        _ name: String, _ options: [String], datagrams: Bool, into report: inout Report
    ) throws -> IperfReport {
        let server = try lab.start(on: lab.left, ["iperf3", "-s", "-1", "-B", lab.left.inner, "-p", Self.port])
        defer { server.end() }
        try wait(seconds: 5) {
            try !lab.left.run("ss", "-Hltn", "sport = :\(Self.port)").isEmpty
        } failure: {
            BenchmarkError("the iperf3 server does not listen", advice: "Its output: \(server.tail)")
        }
        let before = ends.map(\.usage)
        var memory = ends.map { MemoryCurve(process: $0.worker) }
        let clock = ContinuousClock()
        let start = clock.now
        let load = try lab.start(
            on: client,
            ["iperf3", "-c", target, "-p", Self.port, "-t", "\(plan.seconds)", "-J"] + options)
        let watches = plan.memory && !datagrams
        _ = try load.wait(seconds: Double(plan.seconds) + 20) {
            guard watches else { return }
            for index in memory.indices { memory[index].sample(at: clock.now - start) }
        }
        let used = zip(ends, before).map { $0.usage - $1 }
        let result = try IperfReport(load.text, datagramLength: datagrams ? TunnelPlan.datagramLength : nil)
        guard result.gigabytes > 0 else {
            throw BenchmarkError("nothing arrived through the tunnel of \(subject)", advice: "See its output: \(tails)")
        }
        report.add(result.gigabits, name, unit: "Gb/s", subject: subject)
        reportUsage(used, of: name, result: result, into: &report)
        if watches { reportMemory(memory, of: name, into: &report) }
        return result
    }

    private func reportUsage(
        _ used: [ProcessUsage], of name: String, result: IperfReport, into report: inout Report
    ) {
        let total = used.reduce(ProcessUsage(), +)
        report.add(
            (total.user + total.system) / result.gigabytes, "\(name): CPU of both ends", unit: "CPU s/GB",
            subject: subject)
        for (end, usage) in zip(used.count == 1 ? ["only"] : ["receiving", "sending"], used) {
            report.add(usage.user, "\(name): \(end) end, user", unit: "CPU s", subject: subject, isDetail: true)
            report.add(usage.system, "\(name): \(end) end, system", unit: "CPU s", subject: subject, isDetail: true)
        }
    }

    private func reportMemory(_ curves: [MemoryCurve], of name: String, into report: inout Report) {
        let peak = curves.compactMap(\.peak?.resident).max()
        let anonymous = curves.compactMap(\.peak?.anonymous).max()
        let growth = curves.compactMap(\.growth).max()
        for (value, what) in [(peak, "resident"), (anonymous, "anonymous"), (growth, "growth")] {
            guard let value else { continue }
            report.add(value, "\(name): worker memory, \(what)", unit: "MB", subject: subject)
        }
    }

    private var tails: String { ends.map(\.child.tail).joined(separator: " || ") }
}
