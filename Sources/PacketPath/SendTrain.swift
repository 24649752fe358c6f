/// The rules of one UDP_SEGMENT train: equal datagrams for one destination, of which only the last may be shorter.
struct SendTrain: BitwiseCopyable {
    /// UDP_MAX_SEGMENTS of the kernels before 6.9.
    static let maximumCount: Int = 64
    /// The largest UDP payload over IPv4.
    static let maximumLength: Int = 65_507

    var destination: PeerAddress = PeerAddress(address: .v4(0), port: 0)
    var source: LocalAddress?
    var tag: UInt64 = 0
    /// The outer ToS of every datagram.
    private(set) var trafficClass: UInt8 = 0
    /// The size of every datagram but the last.
    private(set) var stride: Int = 0
    private(set) var count: Int = 0
    private(set) var length: Int = 0
    private var closed: Bool = false

    /// Whether a datagram of `size` bytes with this outer ToS may follow.
    @inline(always)
    func admits(_ size: Int, trafficClass: UInt8) -> Bool {
        if count == 0 { return size <= Self.maximumLength }
        return !closed && size <= stride && count < Self.maximumCount && length + size <= Self.maximumLength
            && trafficClass == self.trafficClass
    }

    /// Adds a datagram that `admits` allowed.
    @inline(always)
    mutating func append(_ size: Int, trafficClass: UInt8) {
        if count == 0 {
            stride = size
            self.trafficClass = trafficClass
        }
        closed = size < stride
        count += 1
        length += size
    }

    /// Forgets the datagrams; destination, source and tag stay.
    mutating func removeAll() {
        trafficClass = 0
        stride = 0
        count = 0
        length = 0
        closed = false
    }

    /// Where datagram `index` begins and how long it is.
    func range(_ index: Int) -> (offset: Int, count: Int) {
        (index * stride, min(stride, length - index * stride))
    }
}

/// The length that an inner packet is padded to: the next multiple of 16, but not beyond the MTU.
///
/// A packet above the MTU (0 for unknown), as after a change of MTU in another namespace, is padded by its last part.
@inline(always)
func paddedLength(_ length: Int, mtu: Int) -> Int {
    guard mtu > 0 else { return (length + 15) & ~15 }
    let last = length <= mtu ? length : length % mtu
    return length - last + min((last + 15) & ~15, mtu)
}
