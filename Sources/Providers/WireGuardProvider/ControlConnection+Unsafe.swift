import Glibc
import ProviderKit

/// The bytes of a control connection; the calls block, and the host ends a connection that blocks for too long.
extension ControlConnection {
    /// Reads what is there, waiting for some; nil when the connection is over.
    func read(into buffer: inout [UInt8]) -> Int? {
        while true {
            let count = unsafe recv(fileDescriptor, &buffer, buffer.count, 0)
            if count > 0 { return count }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Writes all of the text, telling the host that the client takes it; false when the connection is over.
    func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(fileDescriptor, $0.baseAddress, min($0.count, 65_536), Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EINTR else { return false }
                continue
            }
            rest = rest.dropFirst(count)
            if !rest.isEmpty { noteWorking() }
        }
        return true
    }
}
