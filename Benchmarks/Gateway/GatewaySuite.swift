extension Suite {
    /// A gateway whose peers all ask for their settings at once.
    static let gateway = Suite(
        "gateway",
        "HELLOs that a gateway answers a second, through sessions over UDP, and its memory with 10,000 leases",
        options: [
            Option("--peers", "N,N", help: "peers in the registry, each with a lease and a HELLO (default 2000,10000)"),
            Option("--window", "N", help: "HELLOs without an answer at once (default 64)"),
            Option("--runs", "N", help: "fresh gateways for each number of peers; medians count (default 5)"),
        ]
    ) { options, report in
        let plan = try GatewayPlan(options)
        report.notes = [
            "gateway and peers share this machine, two namespaces joined by veth; each peer one session and one HELLO,",
            "\(plan.window) without an answer at once; the answer is a whole snapshot: addresses of 2 families, 10 routes, MTU",
        ]
        for run in 1...plan.runs {
            for count in plan.peers {
                CommandLineTool.say("run \(run) of \(plan.runs): \(count) peers")
                try Lab.run(tunnelMTU: 1420) { lab in
                    let gateway = try GatewayLab(lab, program: plan.program, peers: count)
                    try gateway.measure(window: plan.window, into: &report)
                }
            }
        }
        GatewayLab.check(&report)
    }
}

/// What one run of the gateway suite does.
private struct GatewayPlan {
    let peers: [Int]
    let window: Int
    let runs: Int
    let program: String

    /// Reads the options and checks what the run needs.
    init(_ options: Options) throws {
        peers = try options.numbers("--peers", standard: [2_000, 10_000], in: 1...60_000)
        window = try options.number("--window", standard: 64, in: 1...1_024)
        runs = try options.number("--runs", standard: 5, in: 1...100)
        try Requirements.root(suite: "gateway")
        program = try Requirements.host()
        try Requirements.tools(["ip"], packages: "iproute2")
    }
}
