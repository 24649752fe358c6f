import CMnl

/// Message types (linux/rtnetlink.h).
enum MessageType {
    static let error = UInt16(NLMSG_ERROR)
    static let done = UInt16(NLMSG_DONE)
    static let newLink = UInt16(RTM_NEWLINK)
    static let deleteLink = UInt16(RTM_DELLINK)
    static let getLink = UInt16(RTM_GETLINK)
    static let setLink = UInt16(RTM_SETLINK)
    static let newAddress = UInt16(RTM_NEWADDR)
    static let deleteAddress = UInt16(RTM_DELADDR)
    static let getAddress = UInt16(RTM_GETADDR)
    static let newRoute = UInt16(RTM_NEWROUTE)
    static let deleteRoute = UInt16(RTM_DELROUTE)
    static let getRoute = UInt16(RTM_GETROUTE)
    static let newRule = UInt16(RTM_NEWRULE)
    static let deleteRule = UInt16(RTM_DELRULE)
    static let getRule = UInt16(RTM_GETRULE)
}

/// Header flags (linux/netlink.h).
enum MessageFlags {
    static let request = UInt16(NLM_F_REQUEST)
    static let acknowledge = UInt16(NLM_F_ACK)
    static let dump = UInt16(NLM_F_ROOT | NLM_F_MATCH)
    static let replace = UInt16(NLM_F_REPLACE)
    static let exclusive = UInt16(NLM_F_EXCL)
    static let create = UInt16(NLM_F_CREATE)
    static let dumpInterrupted = UInt16(NLM_F_DUMP_INTR)
    static let capped = UInt16(NLM_F_CAPPED)
    static let hasErrorAttributes = UInt16(NLM_F_ACK_TLVS)
}

/// Attributes of links (linux/if_link.h).
enum LinkAttribute {
    static let name = UInt16(IFLA_IFNAME)
    static let mtu = UInt16(IFLA_MTU)
    static let transmitQueueLength = UInt16(IFLA_TXQLEN)
    static let alias = UInt16(IFLA_IFALIAS)
    static let statistics64 = UInt16(IFLA_STATS64)
    static let info = UInt16(IFLA_LINKINFO)
    static let infoKind = UInt16(IFLA_INFO_KIND)
    static let familySpecific = UInt16(IFLA_AF_SPEC)
    static let ipv6AddressGeneration = UInt16(IFLA_INET6_ADDR_GEN_MODE)
}

/// Attributes of addresses (linux/if_addr.h).
enum AddressAttribute {
    static let address = UInt16(IFA_ADDRESS)
    static let local = UInt16(IFA_LOCAL)
    static let flags = UInt16(IFA_FLAGS)
}

/// Attributes of routes (linux/rtnetlink.h).
enum RouteAttribute {
    static let destination = UInt16(RTA_DST.rawValue)
    static let outputInterface = UInt16(RTA_OIF.rawValue)
    static let gateway = UInt16(RTA_GATEWAY.rawValue)
    static let priority = UInt16(RTA_PRIORITY.rawValue)
    static let preferredSource = UInt16(RTA_PREFSRC.rawValue)
    static let multipath = UInt16(RTA_MULTIPATH.rawValue)
    static let table = UInt16(RTA_TABLE.rawValue)
    static let mark = UInt16(RTA_MARK.rawValue)
}

/// Attributes of rules (linux/fib_rules.h).
enum RuleAttribute {
    static let priority = UInt16(FRA_PRIORITY)
    static let mark = UInt16(FRA_FWMARK)
    static let mask = UInt16(FRA_FWMASK)
    static let table = UInt16(FRA_TABLE)
    static let protocolNumber = UInt16(FRA_PROTOCOL)
}
