// Netlink
