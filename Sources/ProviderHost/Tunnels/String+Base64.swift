internal import Foundation

extension String {
    /// The 32 bytes of a key in hexadecimal as base64, as `wg` shows them; nil for anything else.
    var base64OfHex: String? {
        guard utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var rest = self[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16), rest.first != "+" else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return Data(bytes).base64EncodedString()
    }
}
