import WireGuard

/// What stands in a list in ascending order, the order of the bytes on the wire.
protocol CanonicallyOrdered: Equatable {
    func precedes(_ other: Self) -> Bool
}

extension CanonicallyOrdered {
    /// Refuses an item that does not come after the one before it.
    func checkFollows(_ previous: Self?) throws(SettingsFinding) {
        guard let previous else { return }
        guard self != previous else { throw SettingsFinding(.duplicate) }
        guard previous.precedes(self) else { throw SettingsFinding(.unsorted) }
    }
}

/// IPv4 first, then the shorter length, then the lower address.
extension IPPrefix: CanonicallyOrdered {
    func precedes(_ other: IPPrefix) -> Bool {
        switch (address, other.address) {
        case (.v4(let left), .v4(let right)): (length, left) < (other.length, right)
        case (.v6(let left), .v6(let right)): (length, left) < (other.length, right)
        case (.v4, .v6): true
        case (.v6, .v4): false
        }
    }
}

extension AssignedAddress: CanonicallyOrdered {
    func precedes(_ other: AssignedAddress) -> Bool {
        canonicalBytes.lexicographicallyPrecedes(other.canonicalBytes)
    }
}

extension DomainName: CanonicallyOrdered {
    func precedes(_ other: DomainName) -> Bool {
        canonicalBytes.lexicographicallyPrecedes(other.canonicalBytes)
    }

    private var canonicalBytes: [UInt8] {
        var writer = WireWriter()
        writer.write(self)
        return writer.bytes
    }
}
