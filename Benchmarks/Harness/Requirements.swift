import Foundation
import Glibc

/// What a suite needs of the machine, each asked for before anything is started or made.
enum Requirements {
    /// Network namespaces are root's.
    static func root(suite: String) throws {
        guard geteuid() == 0 else {
            throw BenchmarkError(
                "network namespaces need root",
                advice: "Build as you are, then run with sudo: \(executable.path) \(suite).")
        }
    }

    /// Programs, and the packages that have them.
    static func tools(_ tools: [String], packages: String) throws {
        for tool in tools where find(tool) == nil {
            throw BenchmarkError("\(tool) is not installed", advice: "apt-get install \(packages).")
        }
    }

    /// The path of providerhost, beside this program.
    static func host() throws -> String {
        let program = executable.deletingLastPathComponent().appendingPathComponent("providerhost").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw BenchmarkError("\(program) is missing", advice: "Build it: swift build -c release.")
        }
        return program
    }
}

/// This executable; providerhost and the bundles lie beside it.
let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

/// The path of a program: itself when it holds a slash, else the first in PATH; nil when it cannot be run.
func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin"
    let folders = program.contains("/") ? [""] : path.split(separator: ":").map { "\($0)/" }
    return folders.map { $0 + program }.first { FileManager.default.isExecutableFile(atPath: $0) }.map {
        URL(fileURLWithPath: $0).path
    }
}
