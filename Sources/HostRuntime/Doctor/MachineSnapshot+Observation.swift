internal import Control
internal import Foundation
internal import Glibc
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit
internal import SystemStore

extension MachineSnapshot {
    /// The number of CAP_NET_ADMIN in linux/capability.h.
    private static let networkAdministration: UInt64 = 12
    private static let switchPrefix = "PROVIDERHOST_NO_"

    /// Looks at the machine, in the network namespace of the calling thread.
    ///
    /// Nothing is changed, but for an interface that is made, never set up, and gone before this returns.
    ///
    /// - Parameters:
    ///   - version: That of the program, which the manager's must be.
    ///   - environment: The variables of the process, which name the folders.
    /// - Returns: What was seen; what could not be looked at says so in its place.
    public static func observed(version: String, environment: [String: String]) -> MachineSnapshot {
        let folder = StateFolder(environment: environment)
        let services = NetworkService.running()
        return MachineSnapshot(
            version: version, user: geteuid(), mayAdministerNetwork: mayAdministerNetwork(), device: device(),
            socketOffloads: socketOffloads(),
            switches: environment.filter { $0.key.hasPrefix(switchPrefix) && !["", "0"].contains($0.value) }.keys
                .sorted(),
            runtimeFolder: ControlLocation.folder(environment), manager: manager(environment), stateFolder: folder,
            store: StoreInspection(folder), resolver: resolver(), filter: filter(), network: network(),
            services: services, sparingServices: services.filter(\.isSparing),
            leftovers: outcome { try LeftoverSweep(isRehearsal: true) }, now: Int64(Date().timeIntervalSince1970))
    }

    private static func outcome<Value>(_ body: () throws -> Value) -> Result<Value, TunnelFailure> {
        Result(catching: body).mapError { TunnelFailure($0) }
    }

    private static func mayAdministerNetwork() -> Bool {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let effective = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
        return effective >> networkAdministration & 1 == 1
    }

    private static func device() -> Device {
        do {
            return .usable(try TUNDevice(name: "phdoctor%d").offloads)
        } catch {
            return .refused(errno: error.errno)
        }
    }

    private static func socketOffloads() -> SocketOffloads? {
        let sockets = try? UDPSocket.pair(options: UDPSocket.Options())
        guard let socket = sockets?.v4 ?? sockets?.v6 else { return nil }
        return SocketOffloads(segmentation: socket.canSegment, receive: socket.receiveOffload)
    }

    private static func manager(_ environment: [String: String]) -> Result<String, TunnelFailure> {
        let client = ManagerClient(application: nil, socketPath: ControlLocation.socketPath(environment))
        return outcome {
            let version = try client.serviceInfo().version
            // The least that a client of configurations needs.
            _ = try client.call(.list, ManagerMessages.Application(application: nil), reply: NoParameters.self)
            return version
        }
    }

    private static func resolver() -> ResolverState {
        do {
            let resolver = try SystemResolver.detect()
            if let none = resolver as? NoResolver { return .absent(reason: none.reason) }
            if resolver.name.hasPrefix("/") {
                let folder = URL(fileURLWithPath: resolver.name).deletingLastPathComponent().path
                guard FileManager.default.isWritableFile(atPath: folder) else { return .readOnly(file: resolver.name) }
            }
            return .usable(name: resolver.name)
        } catch {
            return .broken(reason: "\(error.attempt): \(error.reason)")
        }
    }

    private static func filter() -> FilterState {
        do {
            _ = try NftablesProgram().tables()
            return .usable
        } catch {
            return error.code == .programMissing ? .programMissing : .refused(cause: error.cause)
        }
    }

    private static func network() -> Result<Network, TunnelFailure> {
        outcome {
            let effects = try SystemEffects()
            return Network(
                links: try effects.links(), rules: try effects.rules(), routes: try effects.routes(table: nil))
        }
    }
}
