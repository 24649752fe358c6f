/// Canonical bytes: sections in ascending order of their type without the critical bit, each as type (16 bits), length
/// (32 bits) and value. Equal snapshots have equal bytes.
extension Snapshot {
    /// The bytes that a digest covers and that BLOCK messages carry.
    public var canonicalBytes: [UInt8] {
        var writer = WireWriter()
        func section(_ type: SectionType, _ isPresent: Bool, _ body: (inout WireWriter) -> Void) {
            guard isPresent else { return }
            var content = WireWriter()
            body(&content)
            writer.write(type.rawValue)
            writer.write(UInt32(content.bytes.count))
            writer.write(content.bytes)
        }
        section(.addresses, !addresses.isEmpty) { for address in addresses { $0.write(address.canonicalBytes) } }
        section(.routes, !routes.isEmpty) { for route in routes { $0.write(route) } }
        section(.excludes, !excludes.isEmpty) { for route in excludes { $0.write(route) } }
        section(.dns, dns != nil) { dns?.write(to: &$0) }
        section(.link, mtu != nil) { $0.write(mtu ?? 0) }
        section(.notice, notice != nil) { $0.write(Array((notice ?? "").utf8)) }
        return writer.bytes
    }

    /// Reads canonical bytes, and refuses every other spelling of the same content.
    ///
    /// - Throws: The first section and item that is not as it must be, or that is more than `limits`.
    public init(canonicalBytes bytes: [UInt8], limits: SnapshotLimits) throws(SettingsFinding) {
        self = try Self.decode(bytes, limits: limits).snapshot
    }

    /// Reads canonical bytes, and says which sections were passed over because they are unknown and need not be known.
    public static func decode(
        _ bytes: [UInt8], limits: SnapshotLimits
    ) throws(SettingsFinding) -> (snapshot: Snapshot, ignored: [SettingsFinding]) {
        guard bytes.count <= limits.byteCount else { throw SettingsFinding(.oversized) }
        var reader = WireReader(bytes)
        var parts = Parts()
        var ignored: [SettingsFinding] = []
        var previous: UInt16?
        while !reader.isAtEnd {
            let type = try reader.readUInt16()
            let order = type & ~SectionType.criticalBit
            if let previous {
                guard order != previous else { throw SettingsFinding(section: type, index: 0, reason: .duplicate) }
                guard order > previous else { throw SettingsFinding(section: type, index: 0, reason: .unsorted) }
            }
            previous = order
            let length = Int(try reader.readUInt32())
            var content: WireReader
            do throws(SettingsFinding) { content = try reader.readPart(length) } catch {
                throw SettingsFinding(section: type, index: 0, reason: error.reason)
            }
            guard let section = SectionType(rawValue: type) else {
                let isKnown = SectionType(rawValue: type ^ SectionType.criticalBit) != nil
                guard type & SectionType.criticalBit == 0, !isKnown else {
                    throw SettingsFinding(section: type, index: 0, reason: isKnown ? .nonCanonical : .unknownCritical)
                }
                guard ignored.count < SnapshotLimits.findingCount else { throw SettingsFinding(.tooManyItems) }
                ignored.append(SettingsFinding(section: type, index: 0, reason: .unknownIgnored))
                continue
            }
            do throws(SettingsFinding) { try parts.read(section, from: &content, limits: limits) } catch {
                throw error.at(section, 0)
            }
        }
        return (Snapshot(checked: parts), ignored)
    }
}

extension Snapshot.Parts {
    fileprivate mutating func read(
        _ section: SectionType, from content: inout WireReader, limits: SnapshotLimits
    ) throws(SettingsFinding) {
        guard !content.isAtEnd else { throw SettingsFinding(.nonCanonical) }
        switch section {
        case .addresses:
            addresses = try Self.readList(&content, section, limit: SnapshotLimits.addressCount) {
                (reader) throws(SettingsFinding) in try AssignedAddress(from: &reader)
            }
        case .routes:
            routes = try Self.readList(&content, section, limit: Int(limits.routeCount)) {
                (reader) throws(SettingsFinding) in try reader.readPrefix()
            }
        case .excludes:
            excludes = try Self.readList(&content, section, limit: Int(limits.routeCount)) {
                (reader) throws(SettingsFinding) in try reader.readPrefix()
            }
        case .dns: dns = try DNSOffer(from: &content)
        case .link:
            mtu = try content.readUInt16()
            try Snapshot.checkMTU(mtu)
        case .notice:
            guard content.remaining <= SnapshotLimits.noticeByteCount else { throw SettingsFinding(.oversized) }
            let bytes = content.readRest()
            guard let text = String(validating: bytes, as: UTF8.self) else { throw SettingsFinding(.badText) }
            notice = text
            try Snapshot.checkNotice(text)
        }
        try content.finish()
    }

    /// Reads items up to the section's end, each after the one before it.
    private static func readList<Item: CanonicallyOrdered>(
        _ content: inout WireReader, _ section: SectionType, limit: Int,
        _ read: (inout WireReader) throws(SettingsFinding) -> Item
    ) throws(SettingsFinding) -> [Item] {
        var items: [Item] = []
        while !content.isAtEnd {
            do throws(SettingsFinding) {
                guard items.count < limit else { throw SettingsFinding(.tooManyItems) }
                let item = try read(&content)
                try item.checkFollows(items.last)
                items.append(item)
            } catch { throw error.at(section, items.count) }
        }
        return items
    }
}
