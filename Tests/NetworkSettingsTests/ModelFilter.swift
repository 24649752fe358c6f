import ProviderKit

@testable import NetworkSettings

/// A packet filter that keeps its tables in a model system, where it fails like every other change.
struct ModelFilter: PacketFilter {
    let system: ModelSystem

    func replace(_ old: [FilterTableName], with new: [FilterTable]) throws(FilterError) {
        let code = system.perform { contents in
            for name in old + new.map(\.name) { contents.filter[name] = nil }
            for table in new { contents.filter[table.name] = table }
            return 0
        }
        if code != 0 { throw FilterError(.refused, cause: "error \(code)") }
    }

    func holds(_ table: FilterTable) -> Bool { system.contents.filter[table.name] == table }

    func tables() throws(FilterError) -> [FilterTableName] { Array(system.contents.filter.keys) }
}
