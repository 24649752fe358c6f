internal import Foundation
internal import ProviderKit

/// QR codes by `qrencode`, where it is installed.
enum QRCode {
    /// A text as a code of characters, as a terminal shows it.
    ///
    /// - Parameters:
    ///   - text: The text; it goes to the program by a pipe, because arguments are for everybody to see.
    ///   - searchPath: The folders where the program is looked for, separated by colons.
    /// - Returns: The code, some lines of text.
    /// - Throws: ``QRCodeError``.
    static func terminalText(
        of text: String, searchPath: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws -> String {
        let folders = (searchPath ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = folders.map { "\($0)/qrencode" }
        guard let program = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw QRCodeError(.programMissing)
        }
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--type=ansiutf8", "--output=-"]
        process.standardInput = input
        process.standardOutput = output
        do {
            // Before the program runs: a configuration is smaller than a pipe's buffer, and nobody can close the other end.
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            try process.run()
        } catch {
            throw QRCodeError(.programFailed)
        }
        let code = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw QRCodeError(.programFailed) }
        return String(decoding: code, as: UTF8.self)
    }
}

/// Why there is no QR code.
enum QRCodeErrorCode: Int, TunnelErrorCode, CaseIterable {
    case programMissing = 1
    case programFailed = 2

    static var domain: String { "ProviderHostQRCodeErrorDomain" }

    var cause: String {
        switch self {
        case .programMissing: "qrencode is not installed."
        case .programFailed: "qrencode failed."
        }
    }

    var remedy: String {
        switch self {
        case .programMissing: "Install it (Debian: apt-get install qrencode), or print the file without --qr."
        case .programFailed: "Print the file without --qr."
        }
    }
}

/// A QR code that cannot be made, and why.
typealias QRCodeError = CodedError<QRCodeErrorCode>
