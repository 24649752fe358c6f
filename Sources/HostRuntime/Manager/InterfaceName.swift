/// The names that interfaces may have.
public enum InterfaceName {
    /// Names that are given out when none is asked for, in order: `phtun0` to `phtun999`.
    static var candidates: some Sequence<String> { (0..<1000).lazy.map { "phtun\($0)" } }

    /// Whether a name is one of ``candidates``.
    static func isAutomatic(_ name: String) -> Bool { candidates.contains(name) }

    /// Whether the kernel and `wg-quick` accept the name: `[a-zA-Z0-9_=+.-]{1,15}`, not `.` and not `..`.
    public static func isValid(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "+"),
                    UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
