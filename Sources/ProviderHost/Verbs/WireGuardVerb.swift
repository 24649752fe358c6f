internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `wireguard`: an interface for wg(8), wg-quick(8) and ip(8), as wireguard-go makes one.
enum WireGuardVerb {
    /// The name of a link to the program that stands for this verb, as `WG_QUICK_USERSPACE_IMPLEMENTATION` takes one.
    static let linkName = "wireguard-providerhost"
    private static let bundleIdentifier = "org.providerhost.wireguard"

    static let command = Command(
        name: "wireguard", summary: "Make a WireGuard interface for wg, wg-quick and ip, as wireguard-go does.",
        positionals: [.init(name: "interface")],
        options: [.init(name: "foreground", summary: "Stay in the foreground (also -f).")],
        discussion: """
            Creates the interface and /var/run/wireguard/INTERFACE.sock, and returns when both are
            there; a process in the background serves them. It ends when the interface or the socket
            is deleted, or on SIGTERM. A link named \(linkName) to the program stands for this
            verb: WG_QUICK_USERSPACE_IMPLEMENTATION=\(linkName) wg-quick up FILE

            The UDP sockets belong to the network namespace in which the process was started, also
            when the interface is moved to another one.

            LOG_LEVEL is silent, error (the default) or verbose. WG_PROCESS_FOREGROUND=1 is -f.
            WG_TUN_FD and WG_UAPI_FD are descriptors of a device and of a listening socket that are
            there already.
            """
    ) { arguments, console in
        let request = try WireGuardRequest(arguments, environment: ProcessInfo.processInfo.environment)
        return request.isForeground ? try serve(request, console) : try launch(request, console)
    }

    /// The arguments with `-f` as the option that it means, and with the verb that a link stands for.
    static func rewritten(_ arguments: [String], program: String) -> [String] {
        var arguments = arguments
        if program.split(separator: "/").last.map(String.init) == linkName {
            if arguments.first == "--version" { return arguments }
            arguments.insert("wireguard", at: 0)
        }
        guard arguments.first == command.name else { return arguments }
        return arguments.map { $0 == "-f" ? "--foreground" : $0 }
    }

    private static func launch(_ request: WireGuardRequest, _ console: Console) throws -> ExitCode {
        let arguments = [linkName, "--foreground", request.interfaceName]
        let descriptors = [request.device, request.listener].compactMap(\.self)
        switch try Service.launch(arguments, keepsOutput: request.keepsOutput, descriptors: descriptors) {
        case .ready: return .success
        case .failed(let status, let text):
            let text = text.isEmpty ? "The process in the background ended with status \(status)." : text
            console.errors("\(CommandLineTool.name): \(text.printable)\n")
            return ExitCode(rawValue: status).map { $0 == .success ? .unknown : $0 } ?? .unknown
        }
    }

    private static func serve(_ request: WireGuardRequest, _ console: Console) throws -> ExitCode {
        let readiness = Readiness()
        do {
            let host = try TunnelHost(try configuration(request)) { report in
                switch report {
                case .status(.connected, _, _): readiness?.tellReady()
                case .status(.disconnected, _, let error?):
                    console.report(error, asJSON: false)
                    readiness?.tellFailure(error.description)
                case .status: break
                case .log(let level, let text):
                    guard let least = request.logLevel, level <= least else { break }
                    SessionPresenter(console: console, asJSON: false).log(level, text)
                }
            }
            return ExitCode(rawValue: host.run().exitStatus) ?? .unknown
        } catch {
            readiness?.tellFailure(TunnelFailure(error).description)
            throw error
        }
    }

    private static func configuration(_ request: WireGuardRequest) throws -> HostConfiguration {
        let bundle = try BundleIndex().bundle(bundleIdentifier)
        var configuration = HostConfiguration(
            bundlePath: bundle.path, executablePath: bundle.executablePath,
            principalClass: bundle.manifest.principalClass,
            protocolConfiguration: TunnelProviderProtocol(
                providerBundleIdentifier: bundleIdentifier,
                providerConfiguration: [TunnelProviderProtocol.followsInterfaceKey: true]))
        configuration.interfaceName = request.interfaceName
        configuration.logLevel = request.logLevel ?? .error
        configuration.controlSocketDirectory = bundle.manifest.controlSocketDirectory
        configuration.interfaceCare = .tools(
            device: request.device.map(Descriptor.init(adopting:)),
            listener: request.listener.map(Descriptor.init(adopting:)))
        return configuration
    }
}
