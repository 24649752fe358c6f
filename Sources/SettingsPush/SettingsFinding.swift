/// One remark on a snapshot or message: where, and why.
///
/// Thrown by the codec, and carried in a RESULT.
public struct SettingsFinding: Error, Sendable, Hashable, BitwiseCopyable {
    /// The type of the section or value, 0 for the whole.
    public var section: UInt16
    /// The item's place in the section, from 0.
    public var index: UInt16
    /// Why.
    public var reason: ReasonCode

    /// Makes a remark on one item of a section.
    public init(section: UInt16, index: UInt16, reason: ReasonCode) {
        self.section = section
        self.index = index
        self.reason = reason
    }

    /// Makes a remark on the whole.
    public init(_ reason: ReasonCode) {
        self.init(section: 0, index: 0, reason: reason)
    }

    /// The same remark, placed at an item of a section unless it is placed already.
    func at(_ section: SectionType, _ index: Int) -> SettingsFinding {
        guard self.section == 0 else { return self }
        return SettingsFinding(section: section.rawValue, index: UInt16(clamping: index), reason: reason)
    }
}
