import Foundation
import Glibc

/// A private /etc and /run with a system bus and the real systemd-resolved in it, in the namespaces of the caller.
///
/// The calling thread or process must have a mount namespace of its own. systemd-resolved is not installed for this, since
/// that would change the machine's own resolver: `Scripts/common.sh` unpacks the package into the build folder.
package final class ResolverRoom {
    /// Where `Scripts/common.sh` unpacks Debian packages that are not to be installed.
    package static let packages = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/test-packages").path

    /// Whether the programs are there.
    package static let isAvailable: Bool =
        root != nil && ["/usr/bin/dbus-daemon", "/usr/bin/dbus-monitor"].allSatisfy(isExecutable)

    private static let root: String? = ["", packages + "/systemd-resolved"].first { root in
        ["/lib/systemd/systemd-resolved", "/usr/bin/resolvectl"].allSatisfy { isExecutable(root + $0) }
    }

    package static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// The shell commands that make /etc and /run private, with copies in `folder`.
    package static func privateFolders(_ folder: String) -> String {
        """
        set -e
        mount --make-rprivate /
        mkdir -p \(folder)/etc
        cp -a /etc/. \(folder)/etc/
        mount --bind \(folder)/etc /etc
        mount -t tmpfs tmpfs /run
        mkdir -p /run/dbus /run/systemd /run/wireguard

        """
    }

    /// The shell commands that let systemd-resolved run there.
    package static func preparation(_ folder: String) -> String {
        privateFolders(folder) + """
            grep -q ^systemd-resolve: /etc/passwd || echo systemd-resolve:x:991:991::/:/usr/sbin/nologin >>/etc/passwd
            grep -q ^systemd-resolve: /etc/group || echo systemd-resolve:x:991: >>/etc/group
            cp \(root ?? "")/usr/share/dbus-1/system.d/org.freedesktop.resolve1.conf /etc/dbus-1/system.d/
            printf '[Resolve]\\nDNS=192.0.2.1\\nFallbackDNS=\\n' >/etc/systemd/resolved.conf
            ln -sf /run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
            ip link set lo up

            """
    }

    /// The shell commands that start the bus; its process is in `bus.pid`.
    package static func busStart(_ folder: String) -> String {
        start("/usr/bin/dbus-daemon --system --nofork --nopidfile", "bus", folder)
            + "for i in $(seq 500); do [ -S /run/dbus/system_bus_socket ] && break; sleep 0.01; done\n"
    }

    /// The shell commands that start systemd-resolved without a memory of links; its process is in `resolved.pid`.
    package static func resolvedStart(_ folder: String, within command: String = "") -> String {
        """
        rm -rf /run/systemd/resolve
        \(start("\(command) \(root ?? "")/lib/systemd/systemd-resolved", "resolved", folder))
        for i in $(seq 500); do [ -e /run/systemd/resolve/stub-resolv.conf ] && break; sleep 0.01; done
        for i in $(seq 500); do busctl status org.freedesktop.resolve1 >/dev/null 2>&1 && break; sleep 0.01; done

        """
    }

    /// Ends what the room started, from any namespace.
    package static func end(_ folder: String) {
        for name in ["resolved", "bus", "monitor"] { signal(SIGKILL, name, folder) }
    }

    /// Sends a signal to one of the room's processes by the name of its file, and waits for its end if it kills.
    package static func signal(_ number: Int32, _ name: String, _ folder: String) {
        let file = "\(folder)/\(name).pid"
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        guard let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), process > 1 else { return }
        kill(process, number)
        guard number == SIGKILL else { return }
        // A zombie, which somebody else has to collect, has no command line any more.
        for _ in 0..<500 {
            let line = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
            if line?.isEmpty ?? true { break }
            usleep(10_000)
        }
        try? FileManager.default.removeItem(atPath: file)
    }

    private static func start(_ command: String, _ name: String, _ folder: String) -> String {
        "\(command) >\(folder)/\(name).log 2>&1 </dev/null & echo $! >\(folder)/\(name).pid\n"
    }

    package let folder: String

    /// Makes the room in the calling thread's namespaces and starts everything in it.
    package init() throws {
        folder = NSTemporaryDirectory() + "/phroom-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            try NetworkNamespace.shell(Self.preparation(folder))
            try startBus()
            try startResolved()
        } catch {
            close()
            throw error
        }
    }

    package func startBus() throws { try NetworkNamespace.shell(Self.busStart(folder)) }

    package func startResolved(within command: String = "") throws {
        try NetworkNamespace.shell(Self.resolvedStart(folder, within: command))
    }

    package func signal(_ number: Int32, _ name: String) { Self.signal(number, name, folder) }

    /// Records what is said on the bus until the room is closed, and returns the file.
    package func monitorBus() throws -> String {
        try NetworkNamespace.shell(Self.start("stdbuf -oL dbus-monitor --system", "monitor", folder) + "sleep 0.3")
        return folder + "/monitor.log"
    }

    /// What resolvectl says of an interface: `dns`, `domain`, `default-route`, `llmnr`.
    package func resolvectl(_ property: String, _ interface: String) throws -> String {
        let text = try NetworkNamespace.shell("\(Self.root ?? "")/usr/bin/resolvectl \(property) \(interface)")
        let value = text.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
        return value.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the room's processes; the mounts go with the namespace.
    package func close() {
        Self.end(folder)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
