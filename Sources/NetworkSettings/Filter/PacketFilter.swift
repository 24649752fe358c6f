public import ProviderKit

/// The packet filter of a network namespace; a test puts a model in its place.
public protocol PacketFilter: Sendable {
    /// Removes tables and makes others, in one step or not at all.
    ///
    /// A table to be made takes the place of one of the same name; a table to be removed need not be there.
    func replace(_ old: [FilterTableName], with new: [FilterTable]) throws(FilterError)

    /// The tables of ours that are there, whichever process made them.
    func tables() throws(FilterError) -> [FilterTableName]

    /// Whether a table is there with all its chains and rules.
    func holds(_ table: FilterTable) -> Bool
}

/// The codes of ``FilterError``.
public enum FilterErrorCode: Int, TunnelErrorCode, CaseIterable {
    case programMissing = 1
    case refused = 2

    public static var domain: String { "ProviderHostFilterErrorDomain" }

    public var cause: String {
        switch self {
        case .programMissing: "There is no program nft, which the packet filter is set with."
        case .refused: "The packet filter could not be changed."
        }
    }

    public var remedy: String {
        switch self {
        case .programMissing:
            "Install the package nftables, or leave out what needs it, such as --include-all-networks or --masquerade."
        case .refused: "See whether `nft list ruleset` works for root, and whether the kernel has nf_tables."
        }
    }
}

/// Why the packet filter is as it was.
public typealias FilterError = CodedError<FilterErrorCode>
