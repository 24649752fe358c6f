internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// Where a secret comes from: never from the arguments, which everybody on the machine can read.
enum SecretInput {
    /// The options that name a source.
    static let options: [Command.Option] = [
        .init(name: "file", value: "FILE", summary: "Read it from a file; from the standard input else.")
    ]

    /// Reads a secret, without the end of its line.
    ///
    /// - Throws: ``ProfileError``; `notReadable`, `secretMissing`.
    static func read(_ arguments: Arguments) throws -> [UInt8] {
        let data: Data
        if let path = arguments.values["file"] {
            guard let contents = FileManager.default.contents(atPath: path) else {
                throw ProfileError(.notReadable, cause: "The file \(path.printable) cannot be read.")
            }
            data = contents
        } else {
            data = FileHandle.standardInput.readDataToEndOfFile()
        }
        var bytes = [UInt8](data)
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw ProfileError(.secretMissing) }
        return bytes
    }

    /// Reads a text that is secret; nil for an empty one.
    static func readText(_ arguments: Arguments) throws -> String? {
        do {
            return String(decoding: try read(arguments), as: UTF8.self)
        } catch let error as ProfileError where error.code == .secretMissing {
            return nil
        }
    }
}
