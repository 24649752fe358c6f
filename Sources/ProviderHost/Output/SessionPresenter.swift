internal import HostRuntime
internal import ProviderKit

/// Shows what a session reports: a line per change of state, errors and log on the standard error; or all as JSON.
struct SessionPresenter: Sendable {
    let console: Console
    let asJSON: Bool

    /// Shows a change of state.
    ///
    /// - Parameters:
    ///   - status: The new state.
    ///   - interface: The name of the interface; empty while there is none.
    ///   - error: The reason of a disconnect.
    func show(_ status: VPNStatus, interface: String, error: TunnelFailure?) {
        let interface = interface.isEmpty ? nil : interface
        if asJSON {
            console.print(json: Report(event: "status", status: status, interface: interface, error: error))
        } else {
            if let error { console.report(error, asJSON: false) }
            console.print([status.description, interface].compactMap(\.self).joined(separator: " "))
        }
    }

    /// Shows one line of the log.
    func log(_ level: LogLevel, _ message: String) {
        if asJSON {
            console.print(json: LogReport(level: "\(level)", message: message))
        } else {
            console.errors("\(CommandLineTool.name): \(level): \(message.printable)\n")
        }
    }
}
