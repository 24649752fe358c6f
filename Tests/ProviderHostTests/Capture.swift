import Foundation
import Synchronization
import Testing

@testable import ProviderHost

/// Runs the program inside the test and keeps what it prints.
final class Capture: Sendable {
    private let printed = Mutex("")
    private let complained = Mutex("")

    var output: String { printed.withLock { $0 } }
    var errors: String { complained.withLock { $0 } }
    /// The objects of the output, one per line.
    func objects() throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    var console: Console {
        Console(
            output: { [self] text in printed.withLock { $0 += text } },
            errors: { [self] text in complained.withLock { $0 += text } })
    }

    func run(_ arguments: String...) -> ExitCode { CommandLineTool.main(arguments, console: console) }
}
