import Glibc

extension NetlinkError.Kind {
    init(code: Int32, family: AddressFamily?) {
        switch code {
        // The kernel answers EACCES where an interface has disable_ipv6 set, and the other two where it has no IPv6.
        case EACCES where family == .ipv6, EOPNOTSUPP where family == .ipv6, EAFNOSUPPORT where family == .ipv6:
            self = .ipv6Unavailable
        case EPERM, EACCES: self = .notPermitted
        case ENODEV, ENXIO: self = .noSuchInterface
        case EEXIST: self = .alreadyExists
        case ENOENT, ESRCH, EADDRNOTAVAIL: self = .notFound
        case EINTR: self = .interrupted
        case ETIMEDOUT: self = .timedOut
        default: self = .other
        }
    }
}

extension NetlinkError: CustomStringConvertible {
    /// What was asked, the cause, and what to do: `set mtu 9 of interface 3: Invalid argument (mtu less than …). …`.
    public var description: String {
        let cause = kind == .ipv6Unavailable ? "IPv6 is not available, \(errnoText(code))" : errnoText(code)
        let detail = kernelMessage.map { " (\($0))" } ?? ""
        return "\(request): \(cause)\(detail). \(advice)"
    }
}
