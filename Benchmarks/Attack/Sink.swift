import Glibc
import PacketPath

/// A socket that receives as a tunnel does and drops everything, the hidden verb `sink PORT`.
///
/// A flood that is aimed at it takes its share of the machine, but none of the tunnel.
enum Sink {
    static let verb = "sink"

    static func run(_ arguments: [String]) throws -> Int32 {
        guard arguments.count == 1, let port = UInt16(arguments[0]) else {
            throw BenchmarkError.usage("sink has other arguments", advice: "sink PORT")
        }
        Interruption.install()
        do {
            var options = UDPSocket.Options()
            options.port = port
            let socket = try UDPSocket(family: 4, options: options)
            let thread = try DataThread("sink") { drain(socket) }
            thread.join()
        } catch {
            throw BenchmarkError(error.message, advice: error.advice)
        }
        return 0
    }

    private static func drain(_ socket: UDPSocket) {
        guard var path = try? ReceivePath(discarding: AEADBackend.select(PathOptions())) else { return }
        var poller = Poller()
        poller.add(socket.descriptor)
        while !Interruption.isRequested {
            if path.receive(from: socket) <= 0 { _ = poller.wait(nanoseconds: 100_000_000) }
        }
        print(path.counters.datagrams)
    }
}
