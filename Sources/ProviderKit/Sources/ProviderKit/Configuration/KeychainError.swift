/// A keychain request that failed, with the Security framework's status as its code.
public typealias KeychainError = CodedError<KeychainStatus>

/// The statuses of ``KeychainError`` (OSStatus).
public enum KeychainStatus: Int, TunnelErrorCode, CaseIterable {
    /// errSecDiskFull.
    case diskFull = -34
    /// errSecIO.
    case inputOutput = -36
    /// errSecParam: a rule of queries or references is broken; the cause names it.
    case parameter = -50
    /// errSecNotAvailable: there is no keychain to ask.
    case notAvailable = -25291
    /// errSecAuthFailed: the passphrase is wrong.
    case authenticationFailed = -25293
    /// errSecDuplicateItem.
    case duplicateItem = -25299
    /// errSecItemNotFound: nothing matches, or the item of a reference was deleted.
    case itemNotFound = -25300
    /// errSecNoSuchClass.
    case noSuchClass = -25306
    /// errSecInteractionNotAllowed: the keychain is locked.
    case interactionNotAllowed = -25308
    /// errSecDecode: the stored value cannot be opened with its key.
    case decode = -26275
    /// errSecMissingEntitlement: the item belongs to an access group that the application is not in.
    case missingEntitlement = -34018

    /// The domain that Foundation gives to an OSStatus.
    public static var domain: String { "NSOSStatusErrorDomain" }

    public var cause: String { text.cause }
    public var remedy: String { text.remedy }

    private var text: (cause: String, remedy: String) {
        switch self {
        case .diskFull: ("The keychain could not be written: the disk is full.", "Free space and try again.")
        case .inputOutput: ("The keychain could not be read or written.", "Check the disk and the kernel's log.")
        case .parameter: ("The query breaks a rule of the keychain.", "Correct the entry that is named.")
        case .notAvailable: ("The keychain is not available.", "See the cause in the log of the manager.")
        case .authenticationFailed: ("The passphrase is wrong.", "Try again with the right one.")
        case .duplicateItem:
            ("An item with this account, service and access group exists.", "Update it, or remove it first.")
        case .itemNotFound:
            ("The keychain item does not exist, or was deleted.", "Add it again and save the new reference.")
        case .noSuchClass:
            ("The keychain has no such class of items.", "Use \"genp\" (generic password) or \"idnt\" (identity).")
        case .interactionNotAllowed:
            ("The keychain is locked.", "Unlock it with `providerhost keychain unlock`.")
        case .decode:
            ("The stored value cannot be opened with the key of this machine.", "Add the item again.")
        case .missingEntitlement:
            (
                "The keychain item belongs to an access group that the application is not in.",
                "Add the item to a group of the application, or the application to the group."
            )
        }
    }
}
