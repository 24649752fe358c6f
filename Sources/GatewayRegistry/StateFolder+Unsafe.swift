import Glibc
import ProviderKit

/// The folder that keeps what must outlive the process.
public enum StateFolder {
    /// The variable that names another folder.
    public static let environmentKey = "PROVIDERHOST_STATE_DIR"

    /// The folder of this process: `PROVIDERHOST_STATE_DIR`, the one that systemd made for a service, the system's.
    public static var current: String {
        if let folder = variable(environmentKey), !folder.isEmpty { return folder }
        // systemd.exec(5): several are separated by colons.
        if let folder = variable("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        return "/var/lib/providerhost"
    }

    /// Makes the folder for its owner alone, unless it is there.
    ///
    /// - Throws: ``RegistryErrorCode/unusableFile``.
    static func make(_ folder: String) throws(RegistryError) {
        // SAFETY: the path is a NUL-ended copy for the length of the call.
        guard unsafe mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
        let reason = unsafe String(cString: strerror(errno))
        throw RegistryError(.unusableFile, cause: "The state folder \(folder.excerpt) cannot be made: \(reason).")
    }

    /// Whether there is anything at a path.
    static func exists(_ path: String) -> Bool {
        // SAFETY: the path is a NUL-ended copy for the length of the call.
        unsafe access(path, F_OK) == 0
    }

    private static func variable(_ name: String) -> String? {
        // SAFETY: the text is copied at once; nothing in this process changes the environment.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
