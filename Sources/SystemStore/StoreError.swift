public import ProviderKit
internal import SQLite

/// A store that cannot be opened, and why.
public typealias StoreError = CodedError<StoreErrorCode>

/// The codes of ``StoreError``.
public enum StoreErrorCode: Int, TunnelErrorCode, CaseIterable {
    case folderUnusable = 1
    case newerVersion = 2
    case unreadable = 3
    case damaged = 4

    public static var domain: String { "ProviderHostStoreErrorDomain" }

    public var cause: String {
        switch self {
        case .folderUnusable: "The folder of the store cannot be used."
        case .newerVersion: "The store was made by a later version."
        case .unreadable: "The store cannot be opened."
        case .damaged: "The store was damaged."
        }
    }

    public var remedy: String {
        switch self {
        case .folderUnusable: "Correct it, or name another folder with PROVIDERHOST_STATE_DIR."
        case .newerVersion: "Install that version again."
        case .unreadable: "Check the permissions and the disk."
        case .damaged: "Restore a copy, or save the configurations again."
        }
    }
}

extension VPNError {
    /// What a client is told when the database fails under a request about configurations.
    init(_ error: SQLiteError) {
        self.init(
            .configurationReadWriteFailed, cause: "The store could not be read or written: \(error).",
            remedy: error.advice)
    }
}

extension KeychainError {
    /// What a client is told when the database fails under a request about keychain items.
    init(_ error: SQLiteError) {
        if error.isDuplicate {
            self.init(.duplicateItem)
        } else {
            self.init(
                error.code == .full ? .diskFull : .inputOutput,
                cause: "The keychain could not be read or written: \(error).", remedy: error.advice)
        }
    }
}

extension SQLiteError {
    /// What to do about it.
    var advice: String {
        switch code {
        case .full: "Free space on the disk; what was saved before is intact."
        case .busy: "Try again; another process is writing."
        case .readOnly, .cannotOpen:
            "Check the permissions of the store's folder and whether its disk is mounted read-only."
        case .corrupt, .notADatabase: "See the log: a damaged store is set aside."
        default: "Check the disk and the kernel's log; what was saved before is intact."
        }
    }
}
