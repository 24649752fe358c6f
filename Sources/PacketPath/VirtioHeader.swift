/// The fields of struct virtio_net_hdr (linux/virtio_net.h) that a TUN uses: 10 bytes in native order before a packet.
struct VirtioHeader: Equatable {
    static let size: Int = 10

    enum Segmentation: UInt8 {
        case none = 0
        case tcp4 = 1
        case tcp6 = 4
        case udp = 5
    }

    var needsChecksum: Bool = false
    var segmentation: Segmentation = .none
    /// The kernel's claim of the header length; only written, never believed.
    var headerLength: Int = 0
    var segmentSize: Int = 0
    var checksumStart: Int = 0
    var checksumOffset: Int = 0

    init() {}

    /// Reads a header; nil for a segmentation type that was not asked for.
    init?(_ view: ByteView, at offset: Int) {
        needsChecksum = view.load8(offset) & 1 != 0
        // Bit 7 says that the super-packet carries CWR; the packet itself says so too.
        guard let segmentation = Segmentation(rawValue: view.load8(offset + 1) & 0x7f) else { return nil }
        self.segmentation = segmentation
        headerLength = Int(view.loadNative16(offset + 2))
        segmentSize = Int(view.loadNative16(offset + 4))
        checksumStart = Int(view.loadNative16(offset + 6))
        checksumOffset = Int(view.loadNative16(offset + 8))
    }

    /// Writes all ten bytes, so that nothing of an earlier packet stays.
    func store(_ view: ByteView, at offset: Int) {
        view.store8(needsChecksum ? 1 : 0, offset)
        view.store8(segmentation.rawValue, offset + 1)
        view.storeNative16(UInt16(truncatingIfNeeded: headerLength), offset + 2)
        view.storeNative16(UInt16(truncatingIfNeeded: segmentSize), offset + 4)
        view.storeNative16(UInt16(truncatingIfNeeded: checksumStart), offset + 6)
        view.storeNative16(UInt16(truncatingIfNeeded: checksumOffset), offset + 8)
    }
}
