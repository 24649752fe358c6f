internal import Foundation
public import ProviderKit

/// The parameters and replies of the keychain's methods.
public enum KeychainMessages {
    /// Parameters of `AddItem`, `CopyMatching` and `DeleteItems`.
    public struct Query: Codable, Sendable, Equatable {
        public var application: String?
        public var owner: UInt32?
        public var query: KeychainQuery
        public init(_ query: KeychainQuery, application: String?, owner: UInt32?) {
            self.query = query
            self.application = application
            self.owner = owner
        }
    }

    /// Parameters of `UpdateItems`.
    public struct Update: Codable, Sendable, Equatable {
        public var application: String?
        public var owner: UInt32?
        public var query: KeychainQuery
        public var attributes: KeychainQuery
        public init(_ query: KeychainQuery, to attributes: KeychainQuery, application: String?, owner: UInt32?) {
            self.query = query
            self.attributes = attributes
            self.application = application
            self.owner = owner
        }
    }

    /// Reply of `AddItem` and `CopyMatching`.
    public struct Items: Codable, Sendable, Equatable {
        public var items: [Item]
        public init(items: [Item]) { self.items = items }
    }

    /// An item, with what was asked for.
    public struct Item: Codable, Sendable, Equatable {
        public var reference: KeychainReference?
        public var attributes: KeychainQuery?
        private var data: Data?
        public init(reference: KeychainReference?, attributes: KeychainQuery?, data: [UInt8]?) {
            self.reference = reference
            self.attributes = attributes
            self.data = data.map { Data($0) }
        }

        /// The secret.
        public var bytes: [UInt8]? { data.map { [UInt8]($0) } }
    }

    /// Parameters of `UnlockKeychain`.
    public struct Passphrase: Codable, Sendable, Equatable {
        public var passphrase: String?
        public init(passphrase: String?) { self.passphrase = passphrase }
    }

    /// Parameters of `ChangeKeychainPassphrase`.
    public struct PassphraseChange: Codable, Sendable, Equatable {
        public var old: String?
        public var new: String?
        public init(from old: String?, to new: String?) {
            self.old = old
            self.new = new
        }
    }
}
