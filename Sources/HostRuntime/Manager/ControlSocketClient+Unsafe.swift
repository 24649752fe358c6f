private import CTun
private import Foundation

/// A client of the control sockets of tunnels on this machine.
public enum ControlSocketClient {
    /// The longest reply that is read.
    private static let replyLimit = 256 << 20
    /// How long a tunnel may be silent; its host ends the connection before.
    private static let patience: Int32 = 2000

    /// The interfaces that have a socket in a folder of /var/run, in order.
    public static func interfaces(in directory: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/var/run/\(directory)")) ?? []
        return files.filter { $0.hasSuffix(".sock") }.map { String($0.dropLast(5)) }.filter(InterfaceName.isValid)
            .sorted()
    }

    /// Sends one request, whose reply ends with an empty line.
    ///
    /// - Returns: The reply.
    /// - Throws: ``SystemCallError``; `ETIMEDOUT` for a tunnel that is silent.
    public static func ask(
        _ request: String, directory: String, interface: String
    ) throws(SystemCallError) -> [UInt8] {
        let path = "/var/run/\(directory)/\(interface).sock"
        let result = unsafe ctun_control_connect(path)
        let socket = Descriptor(adopting: try SystemCallError.check("connect to \(path)", result))
        let bytes = Array(request.utf8)
        // A tunnel that ends meanwhile is left out; SIGPIPE would end the program that asks.
        guard unsafe ctun_stream_send(socket.number, bytes, bytes.count) == bytes.count else {
            throw SystemCallError(call: "write to \(path)", errno: EPIPE)
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !reply.suffix(2).elementsEqual([10, 10]), reply.count < replyLimit {
            guard (try? ChannelSystem.waitToRead(socket.number, milliseconds: patience)) ?? false else {
                throw SystemCallError(call: "read from \(path)", errno: ETIMEDOUT)
            }
            let count = unsafe read(socket.number, &buffer, buffer.count)
            guard count > 0 else { throw SystemCallError(call: "read from \(path)", errno: ECONNRESET) }
            reply += buffer[..<count]
        }
        return reply
    }
}
