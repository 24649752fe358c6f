internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// How verbs reach the configurations of the machine: through the client API, as any application does.
struct ProfileAccess: Sendable {
    let client: ManagerClient

    /// Looks whether a manager of this version answers.
    ///
    /// - Throws: ``ControlError``; `noManager`, `versionMismatch`.
    init() throws {
        client = ManagerClient(application: nil)
        let version = try client.serviceInfo().version
        guard version == CommandLineTool.version else {
            throw ControlError(
                .versionMismatch, cause: "The manager has version \(version), this program \(CommandLineTool.version).")
        }
    }

    /// Every configuration that the caller may see.
    func all() throws -> [TunnelProviderManager] {
        let client = client
        return try Waiting.run { try await TunnelProviderManager.loadAllFromPreferences(client: client) }
    }

    /// The configuration with this name or identifier.
    ///
    /// - Throws: ``ProfileError``; `notFound` with the closest names, `ambiguous`.
    func manager(named name: String) throws -> TunnelProviderManager {
        let managers = try all()
        let found = managers.filter { $0.localizedDescription == name || $0.identifier == name.uppercased() }
        guard let manager = found.first else {
            let names = managers.compactMap(\.localizedDescription)
            let closest = Suggestion.closest(to: name, in: names, limit: 3).joined(separator: ", ")
            throw ProfileError(
                .notFound, cause: "There is no profile `\(name.printable)`.",
                remedy: names.isEmpty
                    ? "Import one: \(CommandLineTool.name) profile import FILE --name \(name.printable)"
                    : "The closest: \(closest).")
        }
        guard found.count == 1 else {
            let identifiers = found.map(\.identifier).joined(separator: ", ")
            throw ProfileError(
                .ambiguous, cause: "Several profiles have the name `\(name.printable)`.",
                remedy: "Name it by its identifier: \(identifiers).")
        }
        return manager
    }

    /// The names that a profile can have.
    ///
    /// - Throws: ``ProfileError``, `nameInvalid`.
    static func checkedName(_ name: String) throws(ProfileError) -> String {
        guard (1...64).contains(name.count), name.printable == name, !name.hasPrefix("-") else {
            throw ProfileError(.nameInvalid, cause: "`\(name.printable)` is no name for a profile.")
        }
        return name
    }
}

/// The codes of ``ProfileError``.
enum ProfileErrorCode: Int, TunnelErrorCode, CaseIterable {
    case notFound = 1
    case ambiguous = 2
    case exists = 3
    case timeout = 4
    case nameInvalid = 5
    case notReadable = 6
    case secretMissing = 7

    static var domain: String { "ProviderHostProfileErrorDomain" }

    var cause: String {
        switch self {
        case .notFound: "There is no such profile."
        case .ambiguous: "Several profiles have this name."
        case .exists: "A profile of this name exists."
        case .timeout: "The tunnel did not get there in time."
        case .nameInvalid: "The name is none for a profile."
        case .notReadable: "The input cannot be read."
        case .secretMissing: "No secret was given."
        }
    }

    var remedy: String {
        switch self {
        case .notFound: "List them: \(CommandLineTool.name) profile list"
        case .ambiguous: "Name it by its identifier."
        case .exists: "Choose another name, remove it first, or give --replace."
        case .timeout: "Look at its log: \(CommandLineTool.name) log NAME"
        case .nameInvalid: "Use 1 to 64 characters that can be printed, not beginning with a dash."
        case .notReadable: "Check the path and its permissions."
        case .secretMissing: "Give it on the standard input, or name a file with --file."
        }
    }
}

/// A profile that is not there, or not as it should be.
typealias ProfileError = CodedError<ProfileErrorCode>
