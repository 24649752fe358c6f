private import CTun
private import Glibc

/// The listening end of the control socket, and the streams that it accepts.
enum ManagerSocket {
    /// Groups of a caller that count; more than a caller has in practice.
    private static let groupLimit = 1024

    /// Takes the lock that only one manager of a folder has.
    ///
    /// - Returns: The lock, which lasts as long as the descriptor; nil while another manager has it.
    static func lock(_ path: String) throws(SystemCallError) -> Descriptor? {
        let result = unsafe ctun_lock_file(path)
        if result == -EAGAIN { return nil }
        return Descriptor(adopting: try SystemCallError.check("open \(path)", result))
    }

    /// Listens at `path`.
    static func listen(_ path: String) throws(SystemCallError) -> Descriptor {
        Descriptor(adopting: try SystemCallError.check("listen on \(path)", unsafe ctun_listen(path)))
    }

    /// Accepts one connection; nil when none waits.
    static func accept(_ listener: Descriptor) throws(SystemCallError) -> (Descriptor, Caller)? {
        var peer = ctun_peer()
        let result = unsafe ctun_accept(listener.number, &peer)
        if result == -EAGAIN || result == -ECONNABORTED { return nil }
        let socket = Descriptor(adopting: try SystemCallError.check("accept", result))
        // Groups give root nothing that it has not.
        let groups = peer.user == 0 ? [] : Self.groups(of: socket)
        return (socket, Caller(user: peer.user, groups: Set([peer.group] + groups), process: peer.process))
    }

    /// The supplementary groups of a caller; without its list it has the group of its process alone.
    private static func groups(of socket: Descriptor) -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: groupLimit)
        let count = unsafe ctun_peer_groups(socket.number, &groups, groupLimit)
        return Array(groups.prefix(Int(min(max(0, count), groupLimit))))
    }

    /// The name of the program at the other end; nil once it has ended, so that its number may be another's.
    static func programName(of socket: Descriptor, process: Int32) -> String? {
        let number = ctun_peer_pidfd(socket.number)
        guard number >= 0 else { return nil }
        let pidfd = Descriptor(adopting: number)
        guard let name = commandName(process) else { return nil }
        // Readable once it has ended: what was read is then perhaps not its own.
        return (try? ChannelSystem.waitToRead(pidfd.number, milliseconds: 0)) == false ? name : nil
    }

    private static func commandName(_ process: Int32) -> String? {
        do {
            let bytes = try OpenFile.file("/proc/\(process)/comm", followingLinks: false).read(atMost: 64) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map { String($0).printable }
        } catch {
            return nil
        }
    }

    /// Receives without waiting; nil when nothing is there, empty at the end of the stream.
    static func receive(_ socket: Descriptor) throws(SystemCallError) -> ArraySlice<UInt8>? {
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            if let base = buffer.baseAddress { unsafe result = ctun_stream_receive(socket.number, base, buffer.count) }
            count = max(0, result)
        }
        if result == -Int(EAGAIN) { return nil }
        try SystemCallError.check("recv", Int32(truncatingIfNeeded: result))
        return bytes[...]
    }

    /// Sends what the socket takes without waiting, and returns how much that was.
    static func send(_ socket: Descriptor, _ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        let result = unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe ctun_stream_send(socket.number, base, buffer.count)
        }
        if result == -Int(EAGAIN) { return 0 }
        return Int(try SystemCallError.check("send", Int32(truncatingIfNeeded: result)))
    }

    /// The number of a group by its name; nil where there is none.
    static func groupNumber(_ name: String) -> UInt32? {
        unsafe getgrnam(name).map { unsafe $0.pointee.gr_gid }
    }

    /// Raises the limit of open descriptors as far as it goes, and returns it.
    static func raiseDescriptorLimit() -> Int { max(256, ctun_raise_descriptor_limit()) }

    /// Tells the service manager at `address` the state of this process.
    static func notify(_ address: String, _ state: String) { _ = unsafe ctun_notify(address, state) }
}
