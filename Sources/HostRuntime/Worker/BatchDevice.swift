internal import PacketPath
internal import ProviderKit
internal import Synchronization

/// The TUN as the batch face drives it: super-packets are cut into packets on the way in, and packets are joined into
/// super-packets on the way out.
///
/// Both are done by the packet path, so that a provider sees complete packets with right checksums while the interface
/// is read and written in pieces of up to 64 KiB. Cutting and joining copy each packet once.
final class BatchDevice: Sendable {
    /// Reads that one batch takes at most, also when every packet is dropped.
    private static let readsPerBatch = 2 * PacketBatch.capacity

    private let tun: TUNDevice
    private let incoming: Mutex<TransmitPath>
    private let outgoing: Mutex<ReceivePath>

    /// - Throws: ``PathError`` when memory is short.
    init(_ tun: TUNDevice) throws(PathError) {
        self.tun = tun
        // Nothing is sealed or opened here; a path comes with a cipher.
        incoming = Mutex(try TransmitPath(backend: .sodium))
        outgoing = Mutex(try ReceivePath(tun: tun, backend: .sodium))
    }

    /// Fills an empty block with what waits in the interface.
    ///
    /// - Throws: ``PacketFlowError`` when the interface fails before the first packet.
    func fill(_ block: PacketBlock) throws(PacketFlowError) {
        let errno = incoming.withLock { path in Self.fill(block, from: &path, tun) }
        if let errno, block.packetCount == 0 { throw .system(errno) }
    }

    private static func fill(_ block: PacketBlock, from path: inout TransmitPath, _ tun: TUNDevice) -> Int32? {
        for _ in 0..<readsPerBatch {
            if path.remainingSegments == 0 {
                guard block.packetCount < PacketBatch.capacity else { return nil }
                switch path.read(from: tun) {
                case .packet: break
                case .dropped: continue
                case .empty: return nil
                case .closed: return deviceGone
                case .failed(let errno): return errno
                }
            }
            // What came together stays together where it can: then it is joined again as a whole.
            let room = PacketBatch.capacity - block.packetCount
            guard block.packetCount == 0 || path.remainingSegments <= room else { return nil }
            while block.packetCount < PacketBatch.capacity, let segment = path.takeSegment() { block.append(segment) }
        }
        return nil
    }

    /// Writes the packets of a block that have a length.
    ///
    /// - Returns: How many the interface took.
    /// - Throws: ``PacketFlowError`` when the interface is gone.
    func write(_ block: PacketBlock) throws(PacketFlowError) -> Int {
        let (taken, errno) = outgoing.withLock { path in
            let dropsBefore = path.counters.drops
            var offered = 0
            for index in 0..<block.packetCount where block.length(at: index) > 0 {
                offered += 1
                block.withPacket(at: index) { _ = path.join($0) }
            }
            path.flush()
            return (offered - Int(path.counters.drops - dropsBefore), path.writeError)
        }
        if errno == Self.deviceGone { throw .system(errno) }
        return taken
    }

    /// EBADFD: the interface was deleted.
    private static let deviceGone: Int32 = 77

    /// Packets that were no IP packets, and those that the interface did not take.
    var drops: (malformed: Int, refused: Int) {
        let read = incoming.withLock { $0.counters }
        let written = outgoing.withLock { $0.counters }
        let malformed = written.drops(.malformed) + read.drops
        return (Int(malformed), Int(written.drops(.noBuffer) + written.drops(.writeError)))
    }
}
