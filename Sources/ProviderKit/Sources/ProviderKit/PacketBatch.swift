/// Packets that are lent where they lie: read them, edit them in place, write the batch back or let it go.
///
/// The value is unique: the packets belong to its holder until it is consumed by ``PacketFlow/writePackets(_:)`` or goes
/// out of scope, which returns the memory to the flow.
public struct PacketBatch: ~Copyable, Sendable {
    /// The most packets that one batch holds.
    public static let capacity = 64
    /// The room of one packet, in bytes: the largest IP packet.
    public static let packetCapacity = 65_535

    private let lease: any PacketLease

    /// Wraps packets that a flow lends; `lease` gets them back when the batch ends.
    public init(lease: any PacketLease) {
        self.lease = lease
    }

    deinit { lease.endLease() }

    /// The number of packets.
    public var count: Int { lease.packetCount }

    /// The bytes of one packet: the IP header first.
    ///
    /// - Precondition: `index` is below ``count``.
    @_lifetime(borrow self)
    public func packet(at index: Int) -> RawSpan {
        let buffer = unsafe lease.packet(at: index)
        // SAFETY: the lease keeps the memory until `endLease`, which only the end of `self` calls.
        return unsafe _overrideLifetime(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)), borrowing: self)
    }

    /// The bytes of one packet, to be edited in place.
    ///
    /// - Precondition: `index` is below ``count``.
    @_lifetime(&self)
    public mutating func mutablePacket(at index: Int) -> MutableRawSpan {
        let buffer = unsafe lease.packet(at: index)
        // SAFETY: as above; exclusive because `self` is borrowed mutably for as long as the span lives.
        return unsafe _overrideLifetime(MutableRawSpan(_unsafeBytes: buffer), mutating: &self)
    }

    /// Changes the length of one packet; 0 drops it when the batch is written.
    ///
    /// - Precondition: `index` is below ``count``, `length` within 0 and ``packetCapacity``.
    public mutating func setLength(_ length: Int, at index: Int) {
        precondition((0...PacketBatch.packetCapacity).contains(length), "a packet has 0 to 65,535 bytes")
        lease.setLength(length, at: index)
    }

    /// The lease, for the flow that made it and now takes it back with the batch still alive.
    public var lenderHandle: any PacketLease { lease }
}

/// The lender's side of a ``PacketBatch``: implemented by flows, not by providers.
public protocol PacketLease: AnyObject, Sendable {
    /// The number of packets lent.
    var packetCount: Int { get }
    /// The memory of one packet, valid until ``endLease()``.
    @unsafe func packet(at index: Int) -> UnsafeMutableRawBufferPointer
    /// Sets the length that ``packet(at:)`` has from now on.
    func setLength(_ length: Int, at index: Int)
    /// Takes the memory back; called once, by the end of the batch.
    func endLease()
}
