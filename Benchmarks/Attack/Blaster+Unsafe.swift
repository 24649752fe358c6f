import CBlaster
import Glibc
import WireGuard

/// Datagrams that are sent in turn, each from the next one of the source addresses.
struct Load {
    fileprivate let bytes: [UInt8]
    fileprivate let bounds: [UInt32]
    fileprivate let target: UInt32
    fileprivate let port: UInt16
    fileprivate let sources: Range<UInt32>
    fileprivate let isNumbered: Bool

    /// The number of datagrams.
    var count: Int { bounds.count - 1 }

    /// A load of these datagrams, at least one.
    ///
    /// - Parameters:
    ///   - datagrams: What is sent.
    ///   - target: Where to, by IPv4.
    ///   - sources: The addresses that it comes from, which must be the machine's own; none leaves the choice to the kernel.
    ///   - isNumbered: Whether each datagram begins with its number, eight bytes in host order.
    /// - Throws: When nothing can be sent so.
    init(
        _ datagrams: [[UInt8]], to target: Endpoint, from sources: Range<UInt32> = 0..<0, isNumbered: Bool = false
    ) throws {
        guard case .v4(let address) = target.address, !datagrams.isEmpty else {
            throw BenchmarkError("nothing can be sent to \(target)", advice: "Give an IPv4 address.")
        }
        var bounds: [UInt32] = [0]
        for datagram in datagrams { bounds.append(bounds[bounds.count - 1] + UInt32(datagram.count)) }
        // One byte more, as a load of empty datagrams has an address too.
        bytes = Array(datagrams.joined()) + [0]
        self.bounds = bounds
        self.target = address
        port = target.port
        self.sources = sources
        self.isNumbered = isNumbered
    }
}

/// An IPv4 socket that sends by the batch, from whichever address.
final class Blaster {
    /// The most datagrams of one call.
    static let batch = Int(BLASTER_BATCH)

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init() throws {
        descriptor = blaster_open()
        guard descriptor >= 0 else {
            throw BenchmarkError("there is no socket (errno \(-descriptor))", advice: "Raise the limit of open files.")
        }
    }

    deinit { close(descriptor) }

    /// Sends a batch, beginning with the load's datagram `number` (counted on and on); returns how many were sent.
    func send(_ load: Load, from number: Int, atMost count: Int) throws -> Int {
        let sent = trySend(load, from: number, atMost: count)
        guard sent >= 0 else {
            throw BenchmarkError(
                "the kernel refused to send (errno \(-sent))", advice: "Are the source addresses the machine's own?")
        }
        return sent
    }

    /// As ``send(_:from:atMost:)``, but returns -errno where the kernel refuses the first datagram.
    func trySend(_ load: Load, from number: Int, atMost count: Int) -> Int {
        let sent = unsafe load.bytes.withUnsafeBufferPointer { bytes in
            unsafe load.bounds.withUnsafeBufferPointer { bounds in
                guard let bytes = bytes.baseAddress, let bounds = bounds.baseAddress else { return -EINVAL }
                var raw = unsafe blaster_load(
                    bytes: bytes, bounds: bounds, count: UInt32(load.count), target: load.target,
                    source: load.sources.lowerBound, sources: UInt32(load.sources.count), port: load.port,
                    is_numbered: load.isNumbered)
                return unsafe blaster_send(descriptor, &raw, UInt64(number), UInt32(count))
            }
        }
        return Int(sent)
    }

    /// Sends every datagram of the load once.
    func send(_ load: Load) throws {
        var sent = 0
        while sent < load.count { sent += try send(load, from: sent, atMost: load.count - sent) }
    }

    /// The next datagram that comes within the time, or nil.
    func receive(milliseconds: Int32) -> [UInt8]? {
        let count = unsafe blaster_receive(descriptor, &buffer, buffer.count, milliseconds)
        return count < 0 ? nil : Array(buffer[..<Int(count)])
    }
}
