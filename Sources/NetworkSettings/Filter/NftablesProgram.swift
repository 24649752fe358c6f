public import ProviderKit

/// nftables, by its program `nft`: tables are handed over in JSON, made of parsed values only.
///
/// `nft` acts on the network namespace of the calling thread.
public struct NftablesProgram: PacketFilter {
    private static let timeout: Int32 = 5000

    private let program: SystemProgram

    /// Finds the program; fails with `programMissing` where there is none.
    public init() throws(FilterError) {
        guard let program = SystemProgram(named: "nft") else { throw FilterError(.programMissing) }
        self.program = program
    }

    public func replace(_ old: [FilterTableName], with new: [FilterTable]) throws(FilterError) {
        let names = Set(old).union(new.map(\.name)).sorted {
            ($0.family.rawValue, $0.text) < ($1.family.rawValue, $1.text)
        }
        guard !names.isEmpty else { return }
        let commands = names.flatMap(\.removal) + new.flatMap(\.commands)
        let document: JSONValue = ["nftables": .list(commands)]
        _ = try run(["-j", "-f", "-"], input: document.description)
    }

    public func tables() throws(FilterError) -> [FilterTableName] {
        // One line for each: "table FAMILY NAME".
        try run(["list", "tables"], input: "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "table", let family = FilterTableName.Family(rawValue: String(words[1]))
            else { return nil }
            return FilterTableName(family, text: String(words[2]))
        }
    }

    public func holds(_ table: FilterTable) -> Bool {
        // Terse: without the contents of sets, which may be long.
        let arguments = ["-j", "-t", "list", "table", table.name.family.rawValue, table.name.text]
        guard let listing = try? run(arguments, input: "") else { return false }
        func count(_ part: String) -> Int { listing.split(separator: part, omittingEmptySubsequences: false).count - 1 }
        return count(#"{"rule": {"#) == table.chains.map(\.rules.count).reduce(0, +)
            && count(#""policy": "drop""#) == table.chains.count { $0.isDropping }
    }

    private func run(_ arguments: [String], input: String) throws(FilterError) -> String {
        let outcome = program.run(arguments, input: input, milliseconds: Self.timeout)
        guard let failure = outcome.failure else { return outcome.output }
        throw FilterError(.refused, cause: "`nft \(arguments.joined(separator: " "))` failed: \(failure).")
    }
}
