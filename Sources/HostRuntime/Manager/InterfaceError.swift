public import ProviderKit

/// The codes of ``InterfaceError``.
public enum InterfaceErrorCode: Int, TunnelErrorCode, CaseIterable {
    case nameInvalid = 1
    case exists = 2
    case capabilityMissing = 3
    case deviceMissing = 4
    case notCreated = 5
    case notRemoved = 6
    case noFreeName = 7
    case socketFailed = 8
    case gone = 9
    case controlSocketTaken = 10
    case controlSocketFailed = 11
    case deviceInvalid = 12
    case isolationInvalid = 13

    public static var domain: String { "ProviderHostInterfaceErrorDomain" }

    public var cause: String {
        switch self {
        case .nameInvalid: "The name is none for an interface."
        case .exists: "The interface exists already."
        case .capabilityMissing: "The interface cannot be created without the capability CAP_NET_ADMIN."
        case .deviceMissing: "There is no /dev/net/tun that can be opened."
        case .notCreated: "The interface could not be created."
        case .notRemoved: "The interface or its settings could not be removed."
        case .gone: "The interface is gone."
        case .noFreeName: "Every name from phtun0 on is taken."
        case .socketFailed: "A UDP socket could not be opened."
        case .controlSocketTaken: "Another program serves the control socket of this name."
        case .controlSocketFailed: "The control socket could not be made."
        case .isolationInvalid: "There is no such isolation."
        case .deviceInvalid: "The descriptor that was passed on is no TUN device that can be used."
        }
    }

    public var remedy: String {
        switch self {
        case .nameInvalid: "Use 1 to 15 of the characters a-z A-Z 0-9 _ = + . -"
        case .exists: "Choose another name with --interface, or find out whose it is with `ip -d link`."
        case .capabilityMissing: "Run as root, or grant it: sudo setcap cap_net_admin+ep on the executable."
        case .deviceMissing:
            "Load the module with `modprobe tun`; in a container, pass the device in (--device /dev/net/tun)."
        case .notCreated: "See the kernel's log with `dmesg`."
        case .notRemoved: "Look at `ip link` and `ip rule`."
        case .noFreeName: "Give one with --interface."
        case .socketFailed: "See udp(7)."
        case .controlSocketTaken: "Stop that program, or choose another name for the interface."
        case .controlSocketFailed:
            "Look at the permissions of its folder, and whether that is on a disk that can be written."
        case .deviceInvalid: "Open it with IFF_TUN, IFF_NO_PI and IFF_VNET_HDR."
        case .isolationInvalid: "Write namespace, or leave it out."
        case .gone: "Start the tunnel again."
        }
    }
}

/// Why an interface, or a socket beside it, could not be had.
public typealias InterfaceError = CodedError<InterfaceErrorCode>
