import Glibc

/// The value of a setting below /proc/sys, at most 255 bytes, without white space at the end; nil if it cannot be read.
func readKernelSetting(_ name: String) -> String? {
    let descriptor = unsafe open("/proc/sys/" + name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 255)
    // SAFETY: at most `count` bytes are written into the buffer.
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { return nil }
    let text = bytes.prefix(count)
    let end = text.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? 0
    return String(decoding: text[..<end], as: UTF8.self)
}

/// Writes a setting below /proc/sys in one call, and returns 0 or the errno.
func writeKernelSetting(_ name: String, _ value: String) -> Int32 {
    let descriptor = unsafe open("/proc/sys/" + name, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    let bytes = Array(value.utf8)
    // SAFETY: the buffer outlives the call, and its own count is passed.
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    return written == bytes.count ? 0 : written < 0 ? errno : EIO
}
