internal import Control
internal import ProviderKit
internal import SystemStore

/// What belongs to us.
extension Check {
    /// The manager, and whether it serves this user.
    static func manager(_ machine: MachineSnapshot) -> Check {
        let topic = "manager"
        let failure: TunnelFailure
        switch machine.manager {
        case .success(let version):
            guard version != machine.version else { return Check(topic, "answers, version \(version)") }
            return Check(
                topic, "answers, version \(version)",
                [
                    Finding(
                        .error, "The manager has version \(version), this program \(machine.version).",
                        run: "systemctl restart providerhost")
                ])
        case .failure(let error): failure = error
        }
        let code = failure.errorDomain == ControlErrorCode.domain ? ControlErrorCode(rawValue: failure.errorCode) : nil
        switch code {
        case .noManager:
            return Check(
                topic, "does not run",
                [
                    Finding(
                        .note, "No manager listens in \(machine.runtimeFolder): profiles cannot be used, only `run`.",
                        run: "providerhost daemon")
                ])
        case .notPermitted:
            return Check(
                topic, "does not serve user \(machine.user)",
                [
                    Finding(
                        .error, failure.cause,
                        run: "groupadd -f \(ManagerGroup.name) && usermod -aG \(ManagerGroup.name) "
                            + "\"$(id -un \(machine.user))\" && systemctl restart providerhost")
                ])
        case .noAccess:
            return Check(
                topic, "cannot be reached",
                [Finding(.error, failure.cause, run: "chmod 755 \(machine.runtimeFolder)")])
        default:
            return Check(
                topic, "does not answer", [Finding(.error, failure.cause, run: "journalctl -u providerhost -n 50")])
        }
    }

    /// Configurations and secrets.
    static func store(_ machine: MachineSnapshot) -> Check {
        let folder = machine.stateFolder
        var findings = machine.store.setAside.map {
            Finding(.warning, "A damaged store was set aside as \($0).", run: "sqlite3 \($0) .recover")
        }
        if machine.store.isKeyMissing {
            findings.append(
                Finding(
                    .error,
                    "The key \(folder.path)/device.key is missing, so the secrets in the keychain cannot be opened. "
                        + "Restore it, or add them again.", run: "providerhost keychain add NAME SECRET"))
        }
        let fact: String
        switch machine.store.condition {
        case .missing: fact = "\(folder.path) has none yet"
        case .foreign(let owner): fact = "\(folder.path) is for user \(owner) to see"
        case .sound(let version): fact = "\(folder.database), version \(version)"
        case .unusable(let error):
            fact = "\(folder.path) cannot be used"
            findings.append(Finding(.error, error.cause, run: command(for: error.code, folder)))
        }
        return Check("store", fact, findings)
    }

    private static func command(for code: StoreErrorCode, _ folder: StateFolder) -> String {
        switch code {
        case .folderUnusable: "install -d -m 700 -o root -g root \(folder.path)"
        case .newerVersion: "providerhost version"
        // Before the manager sets it aside.
        case .damaged: "cp -a \(folder.path) \(folder.path).copy"
        case .unreadable: "ls -la \(folder.path)"
        }
    }
}
