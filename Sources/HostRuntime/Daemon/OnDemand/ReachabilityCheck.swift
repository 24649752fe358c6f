internal import NetworkSettings
internal import OnDemand

/// Finds out whether something can be reached without the tunnel; each question ends within seconds.
///
/// URLs are asked for by the program `curl`, and names by `getent`, as any program would: their libraries stay out of the
/// manager, and a request that hangs is ended with its process.
enum ReachabilityCheck {
    private static let seconds: Int32 = 5
    private static let milliseconds = seconds * 1000
    /// Where a program is ended if it does not end by itself.
    private static let patience = milliseconds + 1000

    /// What must be installed for URLs to be asked for.
    static let program = "curl"

    /// Whether a URL can be asked for at all.
    static func isProbeable(_ url: String) -> Bool {
        let rest = ["http://", "https://"].first { url.lowercased().hasPrefix($0) }.map { url.dropFirst($0.count) }
        return rest?.first.map { !"/?#".contains($0) } ?? false
            && url.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 32 && $0.value != 127 }
    }

    /// Whether a URL answers with 200 through an interface, which no tunnel's routes can turn away; redirections are not
    /// followed.
    static func answers(_ url: String, interface: String) -> Bool {
        guard isProbeable(url), let curl = SystemProgram(named: program) else { return false }
        let outcome = curl.run(
            [
                "-q", "--silent", "--globoff", "--proto", "=http,https", "--interface", "if!" + interface,
                "--max-time", "\(seconds)", "--max-redirs", "0", "--output", "/dev/null", "--write-out", "%{http_code}",
                "--url", url,
            ],
            input: "", milliseconds: patience)
        // The status is known before the body has come, which may be too long to wait for.
        return outcome.output == "200"
    }

    /// Whether a name can be resolved: by these servers, or else by whatever this machine uses.
    static func resolves(_ host: String, servers: [String]?) -> Bool {
        if let servers { return DNSLookup.finds(host, servers: servers, milliseconds: milliseconds) }
        guard let getent = SystemProgram(named: "getent") else { return false }
        return getent.run(["ahosts", host], input: "", milliseconds: patience).failure == nil
    }
}
