internal import Foundation
internal import ProviderKit

/// Where the program writes: plain text without colour, so a terminal, a pipe and NO_COLOR get the same.
struct Console: Sendable {
    /// Writes to the standard output.
    let output: @Sendable (String) -> Void
    /// Writes to the standard error.
    let errors: @Sendable (String) -> Void

    /// The process's own output; a reader that went away is no error, because a tunnel must outlive it.
    static let standard = Console(
        output: { try? FileHandle.standardOutput.write(contentsOf: Data($0.utf8)) },
        errors: { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) })

    /// Prints one line of output.
    func print(_ line: String) { output(line + "\n") }

    /// Prints one JSON object as one line of output.
    func print(json value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return }
        output(String(decoding: data, as: UTF8.self) + "\n")
    }

    /// Prints an error: one line for people, and an object where the caller reads JSON.
    func report(_ failure: TunnelFailure, asJSON: Bool) {
        errors("\(CommandLineTool.name): \(failure.description)\n")
        if asJSON { print(json: Report(event: "error", error: failure)) }
    }
}
