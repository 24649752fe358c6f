import Foundation
import Glibc
import PacketPath
import WireGuard
import WireGuardProvider

/// One end of a tunnel in this process: the provider's engine without host and worker, and so with any cipher.
///
/// The hidden verb `endpoint INTERFACE CONFIG [--no-cipher]`; the tunnel suite starts it inside its namespaces and gives
/// the interface its address. It runs until SIGINT, SIGTERM or SIGHUP.
enum TunnelEndpoint {
    static let verb = "endpoint"

    static func run(_ arguments: [String]) throws -> Int32 {
        let names = arguments.filter { !$0.hasPrefix("--") }
        guard names.count == 2, arguments.count - names.count <= 1,
            arguments.count == 2 || arguments.contains("--no-cipher")
        else {
            throw BenchmarkError.usage(
                "endpoint has other arguments", advice: "endpoint INTERFACE CONFIG [--no-cipher]")
        }
        Interruption.install()
        let configuration = try configuration(at: names[1])
        let options = PathOptions(environment: { ProcessInfo.processInfo.environment[$0] })
        let engine = try engine(
            interface: names[0], configuration, options,
            backend: arguments.contains("--no-cipher") ? CopyingBackend.backend : nil)
        var endpoints: [PublicKey: Endpoint] = [:]
        for peer in configuration.peers {
            if case .address(let endpoint) = peer.endpoint { endpoints[peer.publicKey] = endpoint }
        }
        try engine.start(configuration, endpoints: endpoints)
        defer { engine.stop() }
        while !Interruption.isRequested { usleep(50_000) }
        return 0
    }

    /// Reads a wg-quick file.
    static func configuration(at path: String) throws -> Configuration {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw BenchmarkError("cannot read \(path): \(error)", advice: "Give a wg-quick file.", kind: .usage)
        }
        do {
            return try Configuration(wgQuick: text)
        } catch {
            throw BenchmarkError(error.description(file: path), advice: "See wg-quick(8).", kind: .usage)
        }
    }

    private static func engine(
        interface: String, _ configuration: Configuration, _ options: PathOptions, backend: AEADBackend?
    ) throws -> Engine {
        var socketOptions = UDPSocket.Options()
        socketOptions.port = configuration.interface.listenPort
        socketOptions.receiveOffload = options.udpGRO
        return try translatingErrors { [socketOptions] in
            let sockets = try UDPSocket.pair(options: socketOptions)
            let tun = try TUNDevice(name: interface, options: options)
            return try Engine(
                tun: tun, sockets: Sockets(ipv4: sockets.v4, ipv6: sockets.v6),
                mtu: configuration.interface.mtu ?? 1420, options: options, backend: backend)
        }
    }

    /// Runs `body` and gives errors of the packet path the form of this program's.
    static func translatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PathError {
            throw BenchmarkError(error.message, advice: error.advice)
        }
    }
}
