internal import Foundation
internal import GatewayRegistry
internal import SettingsPush
internal import WireGuard

/// `gateway results`: what became of the settings at the clients.
enum GatewayResultsVerb {
    static let command = Command(
        name: "gateway results", summary: "Show what clients did with what they were pushed, and why.",
        positionals: [.init(name: "NAME", isRequired: false)], options: [.json]
    ) { arguments, console in
        let registry = try GatewayVerbs.registry()
        let contents = try registry.contents()
        let results = try registry.results()
        let peers = try arguments.positionals.first.map { [try contents.peer($0)] } ?? contents.sortedPeers
        let reports = peers.compactMap { peer in results[peer.name].map { ResultReport($0, contents) } }
        if arguments.wantsJSON {
            console.print(json: ResultListing(results: reports))
        } else {
            for report in reports { console.print("\(report.peer)  \(report.text)") }
            if reports.isEmpty { console.print("No client has answered yet.") }
        }
        return .success
    }

    /// The object of `--json`.
    private struct ResultListing: Encodable {
        let schema = Report.schema
        let results: [ResultReport]

        private enum CodingKeys: String, CodingKey { case schema, results }
    }
}

/// What a client did with a snapshot.
struct ResultReport: Encodable {
    /// One item that was not taken as it was offered.
    struct Item: Encodable {
        /// Stands for a section where the remark is about everything.
        static let whole = "all"

        let section: String
        let index: UInt16
        /// The item, where the snapshot is still the one that is offered.
        let item: Nullable<String>
        let code: UInt16
        let reason: String
    }

    let peer: String
    let receivedAt: String
    let serial: UInt64
    /// The serial that is offered now.
    let offeredSerial: UInt64
    let status: String
    let items: [Item]

    init(_ result: ReportedResult, _ contents: RegistryContents) {
        peer = result.peer
        receivedAt = Date(timeIntervalSince1970: TimeInterval(result.receivedAt)).ISO8601Format()
        serial = result.serial
        offeredSerial = contents.versions[result.peer]?.serial ?? 0
        status = "\(result.status)"
        let snapshot = result.serial == offeredSerial ? try? contents.snapshot(of: result.peer) : nil
        items = result.findings.map { finding in
            let section = SectionType(rawValue: finding.section)
            return Item(
                section: section.map { "\($0)" } ?? (finding.section == 0 ? Item.whole : "\(finding.section)"),
                index: finding.index,
                item: Nullable(section.flatMap { snapshot?.item(Int(finding.index), of: $0) }),
                code: finding.reason.rawValue, reason: finding.reason.description)
        }
    }

    /// The result for people.
    var text: String {
        let age = serial == offeredSerial ? "" : ", \(offeredSerial) is offered"
        let reasons = items.map { item in
            let place = "\(item.section) \(item.item.value ?? "item \(item.index)")"
            return "\n    \(item.section == Item.whole ? Item.whole : place): \(item.reason)"
        }
        return "\(status) (serial \(serial)\(age), \(receivedAt))" + reasons.joined()
    }
}

extension Snapshot {
    /// One item of a section, as text.
    fileprivate func item(_ index: Int, of section: SectionType) -> String? {
        func element(_ list: [some CustomStringConvertible]) -> String? {
            list.indices.contains(index) ? "\(list[index])" : nil
        }
        switch section {
        case .addresses: return element(addresses)
        case .routes: return element(routes)
        case .excludes: return element(excludes)
        case .dns:
            guard let dns else { return nil }
            // Servers, search list and match list are numbered through.
            let names = dns.servers.map { "\($0)" } + (dns.searchDomains + dns.matchDomains).map { "\($0)" }
            return element(names)
        case .link: return mtu.map { "\($0)" }
        case .notice: return nil
        }
    }
}
