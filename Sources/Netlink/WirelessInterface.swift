/// An interface of the kernel's Wi-Fi stack (nl80211).
public struct WirelessInterface: Hashable, Sendable {
    /// The index of the interface.
    public var index: UInt32
    /// The name of the network that it is connected to; nil while there is none.
    public var ssid: String?

    /// An interface with what it is connected to.
    public init(index: UInt32, ssid: String?) {
        self.index = index
        self.ssid = ssid
    }

    /// Every Wi-Fi interface of the namespace of the calling thread; none where the machine has no Wi-Fi.
    public static func all() throws(NetlinkError) -> [WirelessInterface] {
        do throws(RawSocket.Failure) {
            var channel = GenericChannel(socket: try RawSocket(GenericChannel.bus, groups: 0, isNonblocking: false))
            guard let family = try channel.family(named: "nl80211") else { return [] }
            var interfaces = try channel.dump(family, command: Number.getInterface) { WirelessInterface($0) }
            // From 5.19.2 on, some kernels do not name a network that wpa_supplicant has joined (seen with 6.1).
            for position in interfaces.indices where interfaces[position].ssid == nil {
                let index = interfaces[position].index
                // An interface that has gone since is in no network.
                let joined = try? channel.dump(family, command: Number.getScan) { builder in
                    builder.attribute(Number.index, index)
                } decode: { attributes in
                    joinedNetwork(attributes)
                }
                interfaces[position].ssid = joined?.first
            }
            return interfaces
        } catch {
            throw NetlinkError(code: error.code, request: "list Wi-Fi interfaces")
        }
    }

    init?(_ attributes: Attributes) {
        guard let index = attributes.integer(Number.index, as: UInt32.self) else { return nil }
        self.index = index
        ssid = attributes[Number.ssid].flatMap(Self.name)
    }

    /// The name of a station heard, if it is the one that the interface has joined.
    static func joinedNetwork(_ attributes: Attributes) -> String? {
        guard let station = attributes.nested(Number.station),
            let status = station.integer(Number.stationStatus, as: UInt32.self), Number.joined.contains(status),
            var elements = station[Number.stationElements]
        else { return nil }
        // Identifier, length, value (IEEE 802.11 section 9.4.2.1); of a hidden network, the answer to our probe is kept here.
        while let identifier = elements.first, let length = elements.dropFirst().first,
            elements.count >= 2 + Int(length)
        {
            if identifier == Number.ssidElement { return name(elements.dropFirst(2).prefix(Int(length))) }
            elements = elements.dropFirst(2 + Int(length))
        }
        return nil
    }

    /// 0 to 32 bytes (IEEE 802.11 section 9.4.2.2), mostly UTF-8; an empty or zeroed one is a hidden network's.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.allSatisfy { $0 == 0 } ? nil : String(decoding: bytes.prefix(32), as: UTF8.self)
    }
}

/// Numbers of linux/nl80211.h.
private enum Number {
    static let getInterface: UInt8 = 5
    static let getScan: UInt8 = 32
    static let index: UInt16 = 3
    static let station: UInt16 = 47
    static let ssid: UInt16 = 52
    /// Within a station (NL80211_BSS).
    static let stationElements: UInt16 = 6
    static let stationStatus: UInt16 = 9
    /// Associated with an access point, joined an IBSS.
    static let joined: ClosedRange<UInt32> = 1...2
    /// The element of a beacon with the network's name.
    static let ssidElement: UInt8 = 0
}
