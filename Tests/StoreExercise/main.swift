import Foundation
import ProviderKit
import SystemStore

// A process that uses a store, for tests that cut its power, fail its system calls, or let several of it run at once.
// Standard output has one line for each thing that is certain; the exit status is 3 where the store refused.
do {
    try Exercise(CommandLine.arguments).run()
} catch let error as any TunnelError {
    say("refused \(error.errorDomain) \(error.errorCode) \(error)")
    exit(3)
} catch {
    say("failed \(error)")
    exit(1)
}
