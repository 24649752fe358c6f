import Synchronization

/// The shared part of a single-producer, single-consumer ring: two positions, two cache-line pairs apart.
///
/// The ring hands out indices; what lies at an index is the caller's (slab slots, a fixed array). Positions only grow
/// and are taken modulo the capacity, so an empty ring and a full one differ.
public final class Ring: Sendable {
    // Heap objects start at 16-byte borders, so 30 words keep the positions at least 128 bytes from each other and from
    // whatever follows in memory.
    private let before = InlineArray<15, UInt64>(repeating: 0)
    fileprivate let tail = Atomic<UInt64>(0)
    private let between = InlineArray<31, UInt64>(repeating: 0)
    fileprivate let head = Atomic<UInt64>(0)
    private let after = InlineArray<15, UInt64>(repeating: 0)
    /// The number of elements, a power of two.
    public let capacity: Int

    private init(capacity: Int) { self.capacity = capacity }

    /// The two ends of a new ring; `capacity` is rounded up to a power of two of at least 2.
    public static func make(capacity: Int) -> RingEnds {
        var size = 2
        while size < capacity && size < 1 << 30 { size *= 2 }
        let ring = Ring(capacity: size)
        return RingEnds(producer: RingProducer(ring), consumer: RingConsumer(ring))
    }
}

/// Both ends of a ring, to be given to two threads.
public struct RingEnds: ~Copyable, Sendable {
    public var producer: RingProducer
    public var consumer: RingConsumer

    /// Takes the ends apart, so that each thread owns one.
    public consuming func split(
        _ producer: (consuming RingProducer) -> Void, _ consumer: (consuming RingConsumer) -> Void
    ) {
        producer(self.producer)
        consumer(self.consumer)
    }
}

/// The writing end; owned by one thread.
public struct RingProducer: ~Copyable, Sendable {
    private let ring: Ring
    private let mask: UInt64
    private var position: UInt64 = 0
    // The consumer's position as last seen; the shared one is read again only when this one says full.
    private var consumed: UInt64 = 0

    fileprivate init(_ ring: Ring) {
        self.ring = ring
        mask = UInt64(ring.capacity - 1)
    }

    /// The index to fill next, or nil when the ring is full.
    ///
    /// Nothing is visible to the consumer before `publish()`.
    public mutating func claim() -> Int? {
        if position &- consumed > mask {
            consumed = ring.head.load(ordering: .acquiring)
            if position &- consumed > mask { return nil }
        }
        return Int(position & mask)
    }

    /// Passes the claimed element to the consumer.
    ///
    /// Call it once after each `claim()` that gave an index.
    public mutating func publish() {
        position &+= 1
        ring.tail.store(position, ordering: .releasing)
    }

    /// Elements that the consumer has not released yet.
    public var backlog: Int { Int(position &- ring.head.load(ordering: .acquiring)) }
}

/// The reading end; owned by one thread.
public struct RingConsumer: ~Copyable, Sendable {
    private let ring: Ring
    private let mask: UInt64
    private var position: UInt64 = 0
    private var produced: UInt64 = 0

    fileprivate init(_ ring: Ring) {
        self.ring = ring
        mask = UInt64(ring.capacity - 1)
    }

    /// The index of the oldest element, or nil when the ring is empty.
    ///
    /// It stays until `release()`.
    public mutating func front() -> Int? {
        if position == produced {
            produced = ring.tail.load(ordering: .acquiring)
            if position == produced { return nil }
        }
        return Int(position & mask)
    }

    /// Gives the oldest element's index back to the producer.
    ///
    /// Call it once after each `front()` that gave an index.
    public mutating func release() {
        position &+= 1
        ring.head.store(position, ordering: .releasing)
    }
}
