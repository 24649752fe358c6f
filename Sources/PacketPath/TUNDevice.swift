internal import CTun

/// An open TUN interface that hands over packets with a virtio header, with the offloads that the kernel granted.
public final class TUNDevice: Sendable {
    /// What the kernel may hand over and will take: whole TCP or UDP super-packets, and checksums left to fill in.
    public struct Offloads: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let checksum = Offloads(rawValue: 0x01)
        public static let tso4 = Offloads(rawValue: 0x02)
        public static let tso6 = Offloads(rawValue: 0x04)
        public static let tsoECN = Offloads(rawValue: 0x08)
        public static let uso4 = Offloads(rawValue: 0x20)
        public static let uso6 = Offloads(rawValue: 0x40)
        static let tso: Offloads = [.tso4, .tso6, .tsoECN]
        static let uso: Offloads = [.uso4, .uso6]
    }

    /// What to do when the name is taken.
    public enum Existing: Sendable {
        /// Attach to a persistent interface of that name.
        case attach
        /// Fail.
        case refuse
    }

    public let descriptor: Int32
    public let offloads: Offloads

    /// Creates or attaches `name`, at most 15 bytes; "%d" in it or an empty name lets the kernel number it.
    ///
    /// Needs CAP_NET_ADMIN. An interface that exists is refused with its own message when `existing` says so.
    public convenience init(
        name: String, existing: Existing = .refuse, options: PathOptions = PathOptions()
    ) throws(PathError) {
        let opened = System.openTUN(name, exclusive: existing == .refuse)
        guard opened.descriptor >= 0 else { throw TUNDevice.refusal(name, opened.descriptor) }
        self.init(owning: opened.descriptor, options: options)
    }

    /// Takes over a TUN descriptor of another process; it is closed with this object, also when this throws.
    public convenience init(adopting descriptor: Int32, options: PathOptions = PathOptions()) throws(PathError) {
        let adopted = System.adoptTUN(descriptor)
        guard adopted.result == 0 else {
            ctun_close(descriptor)
            throw PathError(
                "descriptor \(descriptor) is not a TUN with virtio headers and without packet information",
                code: adopted.result, advice: "open it with IFF_TUN, IFF_NO_PI and IFF_VNET_HDR")
        }
        self.init(owning: descriptor, options: options)
    }

    private init(owning descriptor: Int32, options: PathOptions) {
        self.descriptor = descriptor
        offloads = TUNDevice.negotiate(descriptor, options)
    }

    /// Any descriptor that keeps packet borders, such as a socket pair, in the place of a TUN.
    package init(packetSocket descriptor: Int32, offloads: Offloads) {
        self.descriptor = descriptor
        self.offloads = offloads
    }

    deinit { ctun_close(descriptor) }

    /// The interface's name now; nil after it was deleted.
    public var name: String? {
        let found = System.nameTUN(descriptor)
        return found.result == 0 ? found.name : nil
    }

    /// The MTU, or nil when the interface is gone or lives in another network namespace than the caller.
    public var mtu: Int? {
        guard let name else { return nil }
        let mtu = System.interfaceMTU(name)
        return mtu > 0 ? Int(mtu) : nil
    }

    // Kernels before 6.2 refuse USO, so sets are tried from the largest down; none at all is a plain TUN.
    private static func negotiate(_ descriptor: Int32, _ options: PathOptions) -> Offloads {
        var wanted: Offloads = [.checksum]
        if options.tunTSO { wanted.formUnion(.tso) }
        if options.tunUSO { wanted.formUnion(.uso) }
        for set in [wanted, wanted.subtracting(.uso), wanted.intersection(.checksum), []]
        where ctun_tun_set_offload(descriptor, set.rawValue) == 0 {
            return set
        }
        return []
    }

    private static func refusal(_ name: String, _ code: Int32) -> PathError {
        switch -code {
        case 16:  // EBUSY
            PathError(
                "the interface \(name) exists already", code: code,
                advice: "choose another name, or delete it with `ip link delete \(name)`")
        case 1, 13:  // EPERM, EACCES
            PathError("cannot create the interface \(name)", code: code, advice: "CAP_NET_ADMIN is needed")
        case 2, 6, 19:  // ENOENT, ENXIO, ENODEV
            PathError("there is no /dev/net/tun", code: code, advice: "load the tun module or pass the device in")
        case 22, 36:  // EINVAL, ENAMETOOLONG
            PathError("\(name) is no interface name", code: code, advice: "use 1 to 15 bytes without / and spaces")
        default:
            PathError("cannot open the interface \(name)", code: code, advice: "see ip-tuntap(8)")
        }
    }
}
