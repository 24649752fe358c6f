internal import Foundation

/// A service that looks after interfaces, routes or the packet filter, and may take ours for its own.
enum NetworkService: String, Sendable, CaseIterable {
    case networkManager = "NetworkManager"
    case networkd = "systemd-networkd"
    case firewalld

    /// Those that run in the network namespace of this process.
    static func running() -> Set<NetworkService> {
        let files = FileManager.default
        let ours = try? files.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
        var found: Set<NetworkService> = []
        for process in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] where Int32(process) != nil {
            guard let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8),
                let service = allCases.first(where: { $0.processName + "\n" == name })
            else { continue }
            // Whose namespace cannot be seen counts as ours.
            let theirs = try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/net")
            if theirs == nil || theirs == ours { found.insert(service) }
        }
        return found
    }

    /// Whether the service's configuration on this machine says that it leaves tunnels alone.
    var isSparing: Bool {
        let files = FileManager.default
        let texts = places.flatMap { place -> [String] in
            guard files.fileExists(atPath: place) else { return [] }
            // A file is one without names in it.
            let names = (try? files.contentsOfDirectory(atPath: place)) ?? [""]
            return names.compactMap {
                try? String(contentsOfFile: $0.isEmpty ? place : "\(place)/\($0)", encoding: .utf8)
            }
        }
        return texts.contains(where: isSparing)
    }

    /// Whether the text of one file of its configuration says so.
    func isSparing(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            switch self {
            case .networkManager:
                return parts.first?.hasPrefix("unmanaged-devices") == true && line.contains(":phtun*")
            case .networkd:
                return parts.count == 2 && parts[0] == "ManageForeignRoutes"
                    && ["no", "false", "off", "0"].contains(parts[1].lowercased())
            case .firewalld: return line.contains("<interface name=\"phtun")
            }
        }
    }

    /// What the kernel keeps of the name of its process.
    var processName: String { String(rawValue.prefix(15)) }

    private var places: [String] {
        switch self {
        case .networkManager:
            ["/etc/NetworkManager/NetworkManager.conf", "/etc/NetworkManager/conf.d", "/usr/lib/NetworkManager/conf.d"]
        case .networkd:
            ["/etc/systemd/networkd.conf", "/etc/systemd/networkd.conf.d", "/usr/lib/systemd/networkd.conf.d"]
        case .firewalld: ["/etc/firewalld/zones"]
        }
    }
}
