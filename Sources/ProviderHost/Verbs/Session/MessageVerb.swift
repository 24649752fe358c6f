internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `message`: sends bytes to the provider of a running tunnel and prints its reply.
enum MessageVerb {
    static let command = Command(
        name: "message", summary: "Send a message to the provider of a running tunnel, and print its reply.",
        positionals: [.init(name: "NAME"), .init(name: "TEXT", isRequired: false)],
        options: [
            .init(name: "hex", value: "BYTES", summary: "The message as hexadecimal digits, such as 00."), .json,
        ],
        discussion: "Without TEXT and --hex the message is read from the standard input. At most 1 MiB."
    ) { arguments, console in
        let message = try message(arguments)
        let session = try ProfileAccess().manager(named: arguments.positionals[0]).connection
        let reply = try Waiting.run { try await session.sendProviderMessage(message) }
        if arguments.wantsJSON {
            let text = reply.flatMap { String(validating: $0, as: UTF8.self) }
            console.print(json: Reply(hasReply: reply != nil, text: text, bytes: reply.map { Data($0) }))
        } else if let reply {
            console.output(String(decoding: reply, as: UTF8.self))
            if reply.last != UInt8(ascii: "\n") { console.output("\n") }
        }
        return .success
    }

    /// The object of `--json`; `bytes` is base64.
    private struct Reply: Encodable {
        let schema = Report.schema
        let hasReply: Bool
        let text: String?
        let bytes: Data?

        private enum CodingKeys: String, CodingKey { case schema, hasReply, text, bytes }
    }

    private static func message(_ arguments: Arguments) throws -> [UInt8] {
        if let digits = arguments.values["hex"] {
            let values = digits.compactMap(\.hexDigitValue)
            guard values.count == digits.count, values.count.isMultiple(of: 2) else {
                throw UsageError(
                    .invalidValue, cause: "`\(digits.printable)` is not an even number of hexadecimal digits.",
                    remedy: "Write each byte with two digits.")
            }
            return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        }
        if arguments.positionals.count > 1 { return Array(arguments.positionals[1].utf8) }
        return [UInt8](FileHandle.standardInput.readDataToEndOfFile())
    }
}
