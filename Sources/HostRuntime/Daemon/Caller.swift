internal import Control

/// Who asks, as the kernel says: nothing in a call can claim to be somebody else.
struct Caller: Equatable {
    let user: UInt32
    /// The group of the process and the supplementary ones.
    let groups: Set<UInt32>
    let process: Int32

    /// Whether the caller may do everything.
    var isRoot: Bool { user == 0 }

    /// What the caller may do with what belongs to `owner`.
    ///
    /// - Parameters:
    ///   - owner: The user that the configuration belongs to; nil for what belongs to everybody and nobody.
    ///   - operators: The group whose members may see, start and stop everything; nil where there is none.
    /// - Returns: The most that is allowed.
    func permission(over owner: UInt32?, operators: UInt32?) -> Permission {
        if isRoot || user == owner { return .administer }
        if let operators, groups.contains(operators) { return .operate }
        return .none
    }
}
