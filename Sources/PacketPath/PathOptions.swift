/// Which offloads and back ends the packet path may use; everything is on unless switched off.
public struct PathOptions: Hashable, Sendable {
    /// TCP super-packets to and from the TUN (TUN_F_TSO4, TUN_F_TSO6).
    public var tunTSO: Bool = true
    /// UDP super-packets to and from the TUN (TUN_F_USO4, TUN_F_USO6).
    public var tunUSO: Bool = true
    /// UDP_SEGMENT on outgoing trains.
    public var udpGSO: Bool = true
    /// UDP_GRO on incoming datagrams.
    public var udpGRO: Bool = true
    /// AEAD back ends with wide vectors (libipsec-mb); off leaves libsodium.
    public var wideAEAD: Bool = true
    /// Data threads in each direction; with 1 a packet's way is run to completion and nothing is shared.
    public var threads: Int = PathOptions.standardThreads

    /// One thread up to two processors, which the other direction and the programs need; else all but one, at most four.
    public static let standardThreads: Int = {
        let processors = System.processorCount
        return processors <= 2 ? 1 : min(processors - 1, 4)
    }()

    public init() {}

    /// Reads PROVIDERHOST_NO_TUN_TSO, _NO_TUN_USO, _NO_UDP_GSO, _NO_UDP_GRO and _NO_WIDE_AEAD.
    ///
    /// A variable that is set to anything but the empty text or "0" switches its feature off.
    public init(environment lookup: (String) -> String?) {
        func allowed(_ name: String) -> Bool {
            guard let value = lookup("PROVIDERHOST_NO_" + name) else { return true }
            return value.isEmpty || value == "0"
        }
        tunTSO = allowed("TUN_TSO")
        tunUSO = allowed("TUN_USO")
        udpGSO = allowed("UDP_GSO")
        udpGRO = allowed("UDP_GRO")
        wideAEAD = allowed("WIDE_AEAD")
    }
}
