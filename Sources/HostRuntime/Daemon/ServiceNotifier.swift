internal import Foundation

/// Tells systemd how the manager does, where systemd started it (sd_notify(3)).
struct ServiceNotifier {
    private let address: String?
    /// How often the watchdog wants a sign of life, in seconds; nil for never.
    let watchdogInterval: Double?

    /// Reads what systemd put into the environment.
    init(_ environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"]
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(ProcessInfo.processInfo.processIdentifier)" } ?? true
        let limit = isMeant ? environment["WATCHDOG_USEC"].flatMap { Double($0) } : nil
        // Twice as often as needed.
        watchdogInterval = limit.map { $0 / 2_000_000 }
    }

    func ready() { send("READY=1\nSTATUS=Listening for clients") }
    func stopping() { send("STOPPING=1\nSTATUS=Stopping every session") }
    func isAlive() { send("WATCHDOG=1") }

    private func send(_ state: String) {
        if let address { ManagerSocket.notify(address, state) }
    }
}
