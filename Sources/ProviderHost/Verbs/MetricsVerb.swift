internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `metrics`: counters of every tunnel for Prometheus.
enum MetricsVerb {
    static let command = Command(
        name: "metrics", summary: "Print the counters of the tunnels for Prometheus.",
        options: [
            .init(
                name: "write", value: "FILE", summary: "Replace a file at once, for node_exporter's textfile collector."
            )
        ],
        discussion: """
            The names are those of prometheus_wireguard_exporter, and
            providerhost_dropped_packets_total{reason=…}. Tunnels of other programs are left out.
            """
    ) { arguments, console in
        let text = Metrics(try Tunnels.views(named: nil)).text
        guard let file = arguments.values["write"] else {
            console.output(text)
            return .success
        }
        try write(text, to: file)
        return .success
    }

    /// Writes a file that a reader sees either as it was or as it is now.
    static func write(_ text: String, to path: String) throws(TunnelsError) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw TunnelsError(.notWritten, cause: "\(path.printable) could not be written.")
        }
    }
}
