import Foundation
import Testing

/// Watches what leaves the right machine in clear text, and tries every way out of it.
///
/// The right machine has default routes by way of the left one, so that whatever is not held back arrives there.
struct Leaks {
    private let lab: Lab
    private let capture: Child

    /// Neither the tunnel's own packets nor those that a link cannot do without: ARP, neighbour discovery, multicast reports.
    private static let clearText =
        "(ip or ip6) and not udp port 51820 and not (ip6 and ip6[6] == 0)"
        + " and not (ip6 and ip6[6] == 58 and ip6[40] >= 133 and ip6[40] <= 137)"

    init(_ lab: Lab) throws {
        self.lab = lab
        try lab.right("ip", "route", "add", "default", "via", "192.0.2.1")
        try lab.right("ip", "route", "add", "default", "via", "2001:db8::1")
        capture = try lab.start(
            on: lab.left, ["tcpdump", "-l", "-n", "-i", "cable", "-Q", "in", "--immediate-mode", Self.clearText])
        try capture.waitFor("listening on")
    }

    /// Every way out that a program may try; what is refused fails at once, what is dropped within a second.
    private static let attempts = """
        for host in 192.0.2.1 203.0.113.9 2001:db8::1 2001:db8:9::9; do
            ping -n -q -c 1 -W 1 $host & ping -n -q -c 1 -W 1 -I cable $host &
            (echo x >/dev/udp/$host/53) & (echo x >/dev/udp/$host/9) &
            timeout 0.5 bash -c "echo x >/dev/tcp/$host/80" &
        done
        ping -n -q -b -c 1 -W 1 192.0.2.255 & ping -n -q -c 1 -W 1 -I cable 224.0.0.251 &
        wait
        """

    /// What a program tries that leaves the choice of the way to the system.
    private static let ordinaryAttempts = """
        for host in 192.0.2.1 203.0.113.9 198.51.100.7 2001:db8::1 2001:db8:9::9; do
            ping -n -q -c 1 -W 1 $host &
            (echo x >/dev/udp/$host/53) & (echo x >/dev/udp/$host/9) &
            timeout 0.5 bash -c "echo x >/dev/tcp/$host/80" &
        done
        wait
        """

    /// The packets that left while everything was tried.
    func tried() throws -> [String] { try packets(during: Self.attempts) }

    /// The packets that left while a program tried what needs no choice of an interface.
    func routed() throws -> [String] { try packets(during: Self.ordinaryAttempts) }

    private func packets(during script: String) throws -> [String] {
        let before = packets.count
        _ = try lab.right.attempt("bash", "-c", script)
        usleep(100_000)
        return Array(packets.dropFirst(before))
    }

    /// Every packet until now.
    var packets: [String] {
        capture.output.split(separator: "\n").map(String.init).filter { $0.contains(" IP ") || $0.contains(" IP6 ") }
    }
}

extension TunnelPair {
    /// The file of the right end with other routes, and a command that takes its time before the tunnel is up.
    func rightFile(routes: String, preparation: String? = nil) -> String {
        let routed = rightFile.replacingOccurrences(
            of: "AllowedIPs = 10.7.0.1/32, fd07::1/128", with: "AllowedIPs = \(routes)")
        guard let preparation else { return routed }
        return routed.replacingOccurrences(of: "[Interface]\n", with: "[Interface]\nPreUp = \(preparation)\n")
    }
}
