import Foundation
import Glibc

/// The socket that a service manager listens on for the states of its services.
final class NotifySocket {
    let path: String
    private let descriptor: Int32
    private var text = ""

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw LabError("\(path) is too long") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw LabError("bind: errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// Everything that has come until now.
    func received() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return text }
            text += String(decoding: buffer.prefix(count), as: UTF8.self) + "\n"
        }
    }
}
