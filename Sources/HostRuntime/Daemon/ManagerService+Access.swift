internal import Control
internal import ProviderKit

/// Who may do what. Whatever is not allowed here is refused.
extension ManagerService {
    /// What a caller was allowed.
    struct Access {
        let caller: Caller
        /// What the call is about, where it is about one configuration that exists.
        var configuration: ManagedConfiguration?
        /// Whether the caller sees what belongs to others.
        let seesAll: Bool
        /// Whether the caller sees what is secret of it too.
        var isTrusted: Bool

        /// What the caller may do is limited to what belongs to this user; nil for everybody's.
        var onlyOwner: UInt32? { caller.isRoot ? nil : caller.user }
    }

    /// The parameters that name a configuration, whatever else a call brings.
    private struct Subject: Decodable {
        struct Configuration: Decodable {
            let identifier: String?
            let slot: String?
        }
        let identifier: String?
        let configuration: Configuration?
    }

    /// Decides about a call by the table of methods.
    ///
    /// - Throws: ``ControlError`` `notPermitted`; for callers that may see it, `configurationInvalid` when there is no such
    ///   configuration.
    func authorize(_ method: ManagerMethod, _ call: IncomingCall, _ connection: ServerConnection) throws -> Access {
        let caller = connection.caller
        let row = method.row
        let general = caller.permission(over: nil, operators: operators)
        switch row.subject {
        case .machine:
            guard caller.isRoot else { throw refusal(row.permission, nil, caller) }
            return Access(caller: caller, seesAll: true, isTrusted: true)
        case .everything:
            guard general >= row.permission || ownsAny(caller) else {
                throw refusal(row.permission, .packetTunnelProvider, caller)
            }
            return Access(caller: caller, seesAll: general >= row.permission, isTrusted: caller.isRoot)
        case .configuration:
            let subject = try call.parameters(as: Subject.self)
            guard let identifier = subject.identifier ?? subject.configuration?.identifier else {
                throw InvalidParameter(parameter: "identifier")
            }
            let found = configurations[identifier]
            let permission = found.map { caller.permission(over: $0.owner, operators: operators) } ?? general
            // Whether a configuration exists is nobody's business who may not see it.
            guard permission >= row.permission else {
                let slot = subject.configuration?.slot.flatMap(VPNConfigurationSlot.init(rawValue:))
                throw refusal(row.permission, Entitlement(slot ?? .tunnelProvider), caller)
            }
            guard found != nil || method == .save else {
                throw VPNError(
                    .configurationInvalid, cause: "There is no configuration \(identifier.printable).",
                    remedy: "Load the configurations again.")
            }
            return Access(
                caller: caller, configuration: found, seesAll: general >= .read, isTrusted: permission == .administer)
        }
    }

    /// The refusal, which names what Network Extension would: the entitlement, where there is one for it.
    private func refusal(_ permission: Permission, _ entitlement: Entitlement?, _ caller: Caller) -> ControlError {
        let needed =
            switch permission {
            case .none, .read, .operate:
                "Do it as root or as the owner of the configuration, or have root add you: "
                    + "groupadd -f \(ManagerGroup.name) && usermod -aG \(ManagerGroup.name) USER"
            case .administer: "Do it as root, or as the owner of the configuration (`profile import --owner USER`)."
            }
        let missing = entitlement.map { ", the entitlement \($0.key) (\($0.rawValue))" } ?? ""
        return ControlError(
            .notPermitted, cause: "User \(caller.user) lacks the permission to \(permission) here\(missing).",
            remedy: needed)
    }
}
