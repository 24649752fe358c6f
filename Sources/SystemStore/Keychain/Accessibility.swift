/// When a keychain item can be read, with the Security framework's values (kSecAttrAccessible).
enum Accessibility: String, CaseIterable {
    /// From the first unlock on, also while locked again: for starts in the background.
    case afterFirstUnlock = "ck"
    /// The same; nothing here ever leaves this machine.
    case afterFirstUnlockThisDeviceOnly = "cku"
    /// Only while unlocked.
    case whenUnlocked = "ak"
    /// The same; nothing here ever leaves this machine.
    case whenUnlockedThisDeviceOnly = "aku"

    /// The key class that protects such items.
    var keyClass: KeyClass {
        switch self {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
        }
    }
}

/// The two keys that values are sealed with.
enum KeyClass: String, CaseIterable {
    case afterFirstUnlock
    case whenUnlocked
}
