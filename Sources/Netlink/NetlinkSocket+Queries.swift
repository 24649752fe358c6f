import Glibc

extension NetlinkSocket {
    /// Every interface of the namespace.
    public func links() throws(NetlinkError) -> [Link] {
        try ask(.links) { Link($0) }
    }

    /// The interface with this name; fails with `noSuchInterface` if there is none.
    public func link(named name: String) throws(NetlinkError) -> Link {
        let query = Query.linkNamed(name)
        guard (1...15).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw NetlinkError(
                code: ENODEV, kernelMessage: "an interface name has 1 to 15 bytes", request: query.description)
        }
        return try single(query)
    }

    /// The interface with this index; fails with `noSuchInterface` if there is none.
    public func link(index: UInt32) throws(NetlinkError) -> Link {
        let query = Query.link(index: index)
        // The kernel takes index 0 for "by name", and answers EINVAL.
        guard index > 0, index <= UInt32(Int32.max) else {
            throw NetlinkError(code: ENODEV, request: query.description)
        }
        return try single(query)
    }

    /// The addresses of both families, or of one, on every interface or on one.
    ///
    /// A family that the kernel lacks has none.
    public func addresses(
        _ family: AddressFamily? = nil, interface: UInt32? = nil
    ) throws(NetlinkError) -> [InterfaceAddress] {
        try eachFamily(family) { (family) throws(NetlinkError) in
            try ask(.addresses(family)) { InterfaceAddress($0) }
                .filter { $0.address.family == family && (interface == nil || $0.interface == interface) }
        }
    }

    /// The routes of a family (or both), in every table or in one; a table that does not exist has none.
    public func routes(
        _ family: AddressFamily? = nil, table: UInt32? = nil
    ) throws(NetlinkError) -> [Route] {
        try eachFamily(family) { (family) throws(NetlinkError) in
            try ask(.routes(family, table: table)) { message in
                // Cached exceptions (path MTU, redirects) are listed too, but nobody configured them.
                let flags = message.payload.integer(UInt32.self, at: 8) ?? 0
                return flags & 0x200 == 0 ? Route(message) : nil
            }
            .filter { $0.destination.family == family && (table == nil || $0.table == table) }
        }
    }

    /// The rules of a family, or of both, in the order in which they are tried.
    public func rules(_ family: AddressFamily? = nil) throws(NetlinkError) -> [Rule] {
        try eachFamily(family) { (family) throws(NetlinkError) in
            try ask(.rules(family)) { Rule($0) }.filter { $0.family == family }
        }
    }

    /// The route that a packet to `destination` takes, as `ip route get`; nil if it would be refused.
    ///
    /// The answer names the table that decided, and `destination` as a host route.
    public func route(
        to destination: IPAddress, mark: UInt32? = nil, source: IPAddress? = nil, interface: UInt32? = nil
    ) throws(NetlinkError) -> Route? {
        let query = Query.lookup(destination, mark: mark, source: source, interface: interface)
        do throws(NetlinkError) {
            let route = try ask(query) { Route($0) }.first
            // IPv6 answers with the refusing route, IPv4 with its errno.
            return route?.kind == .unicast || route?.kind == .local ? route : nil
        } catch {
            if [ENETUNREACH, EHOSTUNREACH].contains(error.code) { return nil }
            throw error
        }
    }

    private func single(_ query: Query) throws(NetlinkError) -> Link {
        guard let link = try ask(query, { Link($0) }).first else {
            throw NetlinkError(code: ENODEV, request: query.description)
        }
        return link
    }

    private func eachFamily<Value>(
        _ family: AddressFamily?, _ list: (AddressFamily) throws(NetlinkError) -> [Value]
    ) throws(NetlinkError) -> [Value] {
        var values: [Value] = []
        for member in family.map({ [$0] }) ?? AddressFamily.allCases {
            do throws(NetlinkError) {
                values += try list(member)
            } catch {
                // A missing table or family holds nothing.
                guard error.kind == .notFound || error.kind == .ipv6Unavailable else { throw error }
            }
        }
        return values
    }
}
