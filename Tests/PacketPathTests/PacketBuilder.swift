/// A seedable generator (SplitMix64), so that a failing case can be run again.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// The Internet checksum, byte by byte as RFC 1071 words it.
func naiveSum(_ bytes: some Collection<UInt8>) -> UInt32 {
    var sum: UInt32 = 0
    var high = true
    for byte in bytes {
        sum += high ? UInt32(byte) << 8 : UInt32(byte)
        high.toggle()
        sum = (sum & 0xffff) + sum >> 16
    }
    return sum
}

func fold(_ sum: UInt32) -> UInt16 {
    var sum = sum
    while sum > 0xffff { sum = (sum & 0xffff) + sum >> 16 }
    return UInt16(sum)
}

extension [UInt8] {
    mutating func put16(_ value: Int, _ at: Int) {
        self[at] = UInt8(truncatingIfNeeded: value >> 8)
        self[at + 1] = UInt8(truncatingIfNeeded: value)
    }
    mutating func put32(_ value: UInt32, _ at: Int) {
        put16(Int(value >> 16), at)
        put16(Int(value & 0xffff), at + 2)
    }
    func get16(_ at: Int) -> Int { Int(self[at]) << 8 | Int(self[at + 1]) }
    func get32(_ at: Int) -> UInt32 { UInt32(get16(at)) << 16 | UInt32(get16(at + 2)) }
    /// A number in the byte order of the machine, as the virtio header has it.
    mutating func putNative16(_ value: Int, _ at: Int) {
        self[at] = UInt8(truncatingIfNeeded: value)
        self[at + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }
    func getNative16(_ at: Int) -> Int { Int(self[at]) | Int(self[at + 1]) << 8 }
}

/// One TCP or UDP packet by its fields; `bytes` makes it with right checksums.
struct Sample: Equatable {
    var v6 = false
    var tcp = true
    var source: UInt8 = 1
    var destination: UInt8 = 2
    var sourcePort = 40_000
    var destinationPort = 443
    var trafficClass: UInt8 = 0
    var flowLabel: UInt32 = 0
    var identification = 0
    var dontFragment = true
    var hopLimit: UInt8 = 64
    var sequence: UInt32 = 0
    var acknowledgement: UInt32 = 77
    var flags: UInt8 = 0x10
    var window = 501
    var options: [UInt8] = []
    var payload: [UInt8] = []

    var networkLength: Int { v6 ? 40 : 20 }
    var transportLength: Int { tcp ? 20 + options.count : 8 }
    var headerLength: Int { networkLength + transportLength }

    private func header(_ transportTotal: Int) -> [UInt8] {
        var h = [UInt8](repeating: 0, count: networkLength)
        if v6 {
            h.put32(6 << 28 | UInt32(trafficClass) << 20 | flowLabel, 0)
            h.put16(transportTotal, 4)
            h[6] = tcp ? 6 : 17
            h[7] = hopLimit
            h[8] = 0xfd
            h[23] = source
            h[24] = 0xfd
            h[39] = destination
        } else {
            h[0] = 0x45
            h[1] = trafficClass
            h.put16(20 + transportTotal, 2)
            h.put16(identification & 0xffff, 4)
            h[6] = dontFragment ? 0x40 : 0
            h[8] = hopLimit
            h[9] = tcp ? 6 : 17
            h[12] = 10
            h[15] = source
            h[16] = 10
            h[19] = destination
            h.put16(Int(~fold(naiveSum(h))), 10)
        }
        return h
    }

    func pseudoSum(_ length: Int) -> UInt32 {
        let h = header(0)
        return naiveSum(v6 ? h[8..<40] : h[12..<20]) + UInt32(tcp ? 6 : 17) + UInt32(length)
    }

    /// The whole packet; with `partial` the checksum field holds the pseudo header's sum, as for checksum offload.
    func bytes(partial: Bool = false) -> [UInt8] {
        var t = [UInt8](repeating: 0, count: transportLength)
        t.put16(sourcePort, 0)
        t.put16(destinationPort, 2)
        let field: Int
        if tcp {
            t.put32(sequence, 4)
            t.put32(acknowledgement, 8)
            t[12] = UInt8(transportLength / 4) << 4
            t[13] = flags
            t.put16(window, 14)
            t.replaceSubrange(20..., with: options)
            field = 16
        } else {
            t.put16(8 + payload.count, 4)
            field = 6
        }
        let total = t.count + payload.count
        if partial {
            t.put16(Int(fold(pseudoSum(total))), field)
        } else {
            let sum = ~fold(pseudoSum(total) + naiveSum(t + payload))
            t.put16(Int(sum == 0 && !tcp ? 0xffff : sum), field)
        }
        return header(total) + t + payload
    }

    /// A virtio header and the packet as the TUN gives a super-packet.
    func superPacket(segment: Int) -> [UInt8] {
        var h = [UInt8](repeating: 0, count: 10)
        h[0] = 1
        h[1] = tcp ? (v6 ? 4 : 1) | (flags & 0x80) : 5
        h.putNative16(headerLength, 2)
        h.putNative16(segment, 4)
        h.putNative16(networkLength, 6)
        h.putNative16(tcp ? 16 : 6, 8)
        return h + bytes(partial: true)
    }

    /// What the kernel's segmentation would make of it (tcp_gso_segment, __udp_gso_segment, inet_gso_segment).
    func segments(_ size: Int) -> [[UInt8]] {
        let starts = Array(stride(from: 0, to: max(1, payload.count), by: size))
        return starts.enumerated().map { index, start in
            var one = self
            one.payload = Array(payload[start..<min(payload.count, start + size)])
            one.sequence = sequence &+ UInt32(start)
            one.identification = (identification + index) & 0xffff
            if index != starts.count - 1 { one.flags &= ~0x09 }
            if index != 0 { one.flags &= ~0x80 }
            return one.bytes()
        }
    }

    static func random(_ random: inout Seeded, payload count: Int) -> Sample {
        var s = Sample()
        s.v6 = random.chance(50)
        s.tcp = random.chance(60)
        s.sourcePort = Int.random(in: 1...65_535, using: &random)
        s.trafficClass = UInt8.random(in: 0...255, using: &random)
        s.flowLabel = s.v6 ? UInt32.random(in: 0..<1 << 20, using: &random) : 0
        s.identification = s.v6 ? 0 : Int.random(in: 0...65_535, using: &random)
        s.dontFragment = random.chance(70)
        s.sequence = UInt32.random(in: 0...UInt32.max, using: &random)
        s.flags = 0x10 | (random.chance(30) ? 8 : 0) | (random.chance(10) ? 1 : 0) | (random.chance(20) ? 0x40 : 0)
        if s.tcp, random.chance(15) { s.flags |= 0x80 }
        if s.tcp, random.chance(70) { s.options = [1, 1, 8, 10] + random.bytes(8) }
        s.payload = random.bytes(count)
        return s
    }
}

/// Takes a virtio header and a packet as written to the TUN apart, as the kernel would; nil when it would refuse them.
func resegment(_ written: [UInt8]) -> [[UInt8]]? {
    let packet = Array(written[10...])
    guard written[1] & 0x7f != 0 else {
        return [packet]
    }
    let v6 = packet[0] >> 4 == 6
    let network = v6 ? 40 : 20
    var s = Sample()
    s.v6 = v6
    s.tcp = written[1] & 0x7f != 5
    s.source = packet[v6 ? 23 : 15]
    s.destination = packet[v6 ? 39 : 19]
    s.sourcePort = packet.get16(network)
    s.destinationPort = packet.get16(network + 2)
    s.trafficClass = v6 ? UInt8(truncatingIfNeeded: packet.get16(0) >> 4) : packet[1]
    s.flowLabel = v6 ? packet.get32(0) & 0xfffff : 0
    s.identification = v6 ? 0 : packet.get16(4)
    s.dontFragment = packet[6] & 0x40 != 0
    s.hopLimit = packet[v6 ? 7 : 8]
    var header = network + 8
    if s.tcp {
        s.sequence = packet.get32(network + 4)
        s.acknowledgement = packet.get32(network + 8)
        s.flags = packet[network + 13]
        s.window = packet.get16(network + 14)
        header = network + Int(packet[network + 12] >> 4) * 4
        s.options = Array(packet[(network + 20)..<header])
    }
    s.payload = Array(packet[header...])
    // What the kernel relies on: a partial checksum, and offsets that agree with the headers.
    guard packet == s.bytes(partial: true), written.getNative16(6) == network, written.getNative16(2) == header,
        written[0] == 1, s.tcp || s.payload.count <= 64 * written.getNative16(4)
    else { return nil }
    return s.segments(written.getNative16(4))
}
