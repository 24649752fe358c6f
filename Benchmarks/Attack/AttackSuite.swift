extension Suite {
    /// A tunnel under attack, and what it still does for others.
    static let attack = Suite(
        "attack", "a tunnel under attack: what it drops and why, what a bystander and a new peer still get",
        options: [
            Option("--only", "NAME", help: "one attack: \(Attack.allCases.map(\.rawValue).joined(separator: ", "))"),
            Option("--rate", "N", help: "datagrams of a flood a second, 0 for as many as go (default 200000)"),
            Option("--seconds", "N", help: "duration of a load (default 4)"),
            Option("--runs", "N", help: "loads of each kind, in turn; the median counts (default 3)"),
            Option("--count", "N", help: "messages of each kind whose fate is counted one by one (default 10000)"),
        ]
    ) { options, report in
        let plan = try AttackPlan(options)
        report.showsRatios = true
        report.notes = [
            "attacker, victim, bystander and iperf3 share this machine; \(plan.rate == 0 ? "no limit" : "\(plan.rate)") "
                + "datagrams a second, \(plan.seconds) s per load",
            "'sink': the same flood goes to a socket beside the victim's that is read and nothing else, so the difference "
                + "to 'victim' is what the tunnel makes of it",
        ]
        try Lab.run(tunnelMTU: 1420) { lab in
            let session = AttackSession(plan, try AttackLab(lab, program: plan.program))
            try session.run(into: &report)
        }
    }
}

/// What one run of the attack suite does.
struct AttackPlan {
    let attacks: [Attack]
    let rate: Int
    let seconds: Int
    let runs: Int
    let count: Int
    let program: String

    /// Reads the options and checks what the run needs.
    init(_ options: Options) throws {
        rate = try options.number("--rate", standard: 200_000, in: 0...100_000_000)
        seconds = try options.number("--seconds", standard: 4, in: 1...600)
        runs = try options.number("--runs", standard: 3, in: 1...100)
        // More would be replays themselves: the window has room for 8,128.
        count = try options.number("--count", standard: 10_000, in: 1...20_000)
        let only = options.text("--only")
        attacks = Attack.allCases.filter { only == nil || only == $0.rawValue }
        guard !attacks.isEmpty else {
            throw BenchmarkError.usage("there is no attack '\(only ?? "")'", advice: "See Benchmarks attack --help.")
        }
        try Requirements.root(suite: "attack")
        program = try Requirements.host()
        try Requirements.tools(
            ["ip", "wg", "iperf3", "ping", "ss"], packages: "iproute2 wireguard-tools iperf3 iputils-ping")
    }
}
