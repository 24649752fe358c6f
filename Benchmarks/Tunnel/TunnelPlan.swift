import Foundation

/// What one run of the tunnel suite measures, and of whom.
struct TunnelPlan {
    /// A quantity that is measured through a tunnel that is up.
    enum Measure: Equatable {
        case stream(streams: Int)
        case bidirectional(streams: Int)
        case datagrams
        case latency

        /// The row's title.
        var name: String {
            switch self {
            case .stream(let streams): "TCP, \(streams == 1 ? "1 stream" : "\(streams) streams")"
            case .bidirectional(let streams): "TCP both ways, \(streams == 1 ? "1 stream" : "\(streams) streams") each"
            case .datagrams: "UDP goodput, \(TunnelPlan.datagramLength) bytes"
            case .latency: "ping average, no load"
            }
        }
    }

    /// The UDP payload that fills an inner packet of 1,420 bytes over IPv4: 1,420 - 20 - 8.
    static let datagramLength = 1392

    static let options = [
        Option("--against", "PATH", help: "the other program, which takes an interface name (default wireguard-go)"),
        Option("--only", "LABEL", help: "measure 'ours' or the other program alone"),
        Option("--no-cipher", help: "measure our engine with a copy in place of the cipher as well"),
        Option(
            "--forwarding", help: "measure a Swift provider that only turns batches round as well, TCP within one end"),
        Option(
            "--peers", "N", help: "measure ours as well beside N more peers with sessions at the receiving end"),
        Option("--tcp", help: "one-way TCP; with --udp the default"),
        Option("--udp", help: "UDP goodput at \(datagramLength) bytes, sent without a limit"),
        Option("--bidirectional", help: "TCP in both directions at once, the sum"),
        Option("--latency", help: "average of 200 pings, one each 5 ms"),
        Option("--memory", help: "memory of the worker under the TCP load and its growth"),
        Option("--streams", "N,...", help: "TCP streams, a row for each number (default 1)"),
        Option("--seconds", "N", help: "duration of a load (default 5)"),
        Option("--runs", "N", help: "runs of each contender, in turn; the median counts (default 1)"),
        Option("--mtu", "N", help: "MTU of the tunnel (default 1420)"),
        Option("--congestion", "NAME", help: "TCP congestion control (default the system's)"),
        Option("--plot", "FILE.svg", help: "draw the comparison with gnuplot"),
    ]

    let contenders: [Contender]
    let measures: [Measure]
    let seconds: Int
    let runs: Int
    let mtu: Int
    let memory: Bool
    let congestion: String?
    let plot: String?

    /// Reads the options and checks what the run needs; nothing is started or made before that is complete.
    init(_ options: Options) throws {
        seconds = try options.number("--seconds", standard: 5, in: 1...3600)
        runs = try options.number("--runs", standard: 1, in: 1...100)
        mtu = try options.number("--mtu", standard: 1420, in: 1280...65_000)
        memory = options.has("--memory")
        congestion = options.text("--congestion")
        plot = options.text("--plot")
        measures = try TunnelPlan.measures(options)

        try Requirements.root(suite: "tunnel")
        guard FileManager.default.isWritableFile(atPath: "/dev/net/tun") else {
            throw BenchmarkError("/dev/net/tun cannot be opened", advice: "Load the module: modprobe tun.")
        }
        try Requirements.tools(
            ["ip", "wg", "iperf3", "ping"] + (plot == nil ? [] : ["gnuplot"]),
            packages: "iproute2 wireguard-tools iperf3 iputils-ping gnuplot-nox")
        contenders = try TunnelPlan.contenders(options)
    }

    private static func measures(_ options: Options) throws -> [Measure] {
        let streams = try options.numbers("--streams", standard: [1], in: 1...128)
        let chosen = ["--tcp", "--udp", "--bidirectional", "--latency"].contains { options.has($0) }
        var measures: [Measure] = []
        if options.has("--tcp") || options.has("--memory") || !chosen {
            measures += streams.map { .stream(streams: $0) }
        }
        if options.has("--udp") || !chosen { measures.append(.datagrams) }
        if options.has("--bidirectional") { measures += streams.map { .bidirectional(streams: $0) } }
        if options.has("--latency") { measures.append(.latency) }
        return measures
    }

    private static func contenders(_ options: Options) throws -> [Contender] {
        let wanted = options.text("--against") ?? "wireguard-go"
        let only = options.text("--only")
        var contenders: [Contender] = []
        if only == nil || only == "ours" { contenders.append(.ours(program: try Requirements.host())) }
        if options.has("--peers") {
            let crowd = Crowd(count: try options.number("--peers", standard: 10_000, in: 1...20_000))
            contenders.append(.crowded(program: try Requirements.host(), crowd: crowd))
        }
        if options.has("--no-cipher") { contenders.append(.withoutCipher(program: executable.path)) }
        if options.has("--forwarding") { contenders.append(.forwarding(program: try Requirements.host())) }
        if only != "ours" {
            guard let program = find(wanted) else {
                throw BenchmarkError(
                    "there is no program '\(wanted)'", advice: "Install wireguard-go or give --against PATH.",
                    kind: .usage)
            }
            let other = Contender.other(program: program)
            guard only == nil || only == other.label else {
                throw BenchmarkError.usage(
                    "--only '\(only ?? "")' names nobody", advice: "It takes 'ours' or '\(other.label)'.")
            }
            contenders.append(other)
        }
        return contenders
    }
}
