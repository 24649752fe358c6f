/// Cuts a stream of bytes into the frames of Varlink: JSON, each ended by a zero byte.
///
/// A byte is looked at once, however small the pieces are in which it arrives.
public struct FrameBuffer: Sendable {
    /// The most bytes of a frame, without its end.
    public var limit: Int
    private var bytes: [UInt8] = []
    /// Where the first frame that was not taken begins.
    private var start = 0
    /// Up to where there is no end of it.
    private var scanned = 0

    /// Makes an empty buffer for frames of at most `limit` bytes.
    public init(limit: Int) { self.limit = limit }

    /// How many bytes wait, complete frames and the beginning of one.
    public var count: Int { bytes.count - start }

    /// Adds what arrived.
    public mutating func append(_ piece: ArraySlice<UInt8>) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 65_536)
            scanned = 0
            start = 0
        } else if start > 65_536 {
            bytes.removeFirst(start)
            scanned -= start
            start = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// Takes the next complete frame, without its end; nil while there is none.
    ///
    /// - Throws: ``WireError/frameTooLong(limit:)``; the stream is of no use after it.
    public mutating func next() throws(WireError) -> [UInt8]? {
        guard let end = bytes[scanned...].firstIndex(of: 0) else {
            scanned = bytes.count
            if count > limit { throw .frameTooLong(limit: limit) }
            return nil
        }
        guard end - start <= limit else { throw .frameTooLong(limit: limit) }
        let frame = Array(bytes[start..<end])
        start = end + 1
        scanned = start
        return frame
    }
}
