import Foundation
import Testing

@testable import HostRuntime

/// The sandbox in a process of its own: this one would lose its privileges, and has more than one thread.
@Suite("Worker sandbox", .timeLimit(.minutes(1))) struct WorkerSandboxTests {
    /// Enters the sandbox, verifies it, and becomes a shell that tells what is left of the privileges.
    static let program = """
        #include <stdio.h>
        #include <unistd.h>
        #include "ctun_sandbox.h"
        int main(void) {
            enum ctun_sandbox_step step;
            if (ctun_thread_count() != 1) return 10;
            if (ctun_sandbox_verify(&step) == 0) return 11;
            if (ctun_sandbox_enter(&step) != 0) return 20 + step;
            if (ctun_sandbox_verify(&step) != 0) return 40 + step;
            execl("/bin/sh", "sh", "-c", "cat /proc/self/status; echo Mask: $(umask); echo Core: $(ulimit -Hc)", NULL);
            return 12;
        }
        """

    /// Compiles the program with our C and runs it behind `prefix`.
    static func status(_ prefix: [String]) async throws -> [String: String] {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        return try await onThread {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try program.write(toFile: folder + "/main.c", atomically: true, encoding: .utf8)
            let sources = package + "/Sources/CTun"
            let compiled = try runProgram([
                "clang", "-I", sources + "/include", "-o", folder + "/sandbox", folder + "/main.c",
                sources + "/sandbox.c",
            ])
            try #require(compiled.status == 0, "\(compiled.output)")
            let (status, output) = try runProgram(prefix + [folder + "/sandbox"])
            try #require(status == 0, "\(output)")
            var fields: [String: String] = [:]
            for line in output.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                if parts.count == 2 { fields[parts[0]] = parts[1] }
            }
            return fields
        }
    }

    static let sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]
    static let none = "0000000000000000"

    @Test(
        "Root has no capability left, and none after it has started a program",
        .enabled(if: geteuid() == 0, "needs root"))
    func asRoot() async throws {
        let status = try await Self.status([])
        for set in Self.sets { #expect(status[set] == Self.none, "\(set)") }
        #expect(status["NoNewPrivs"] == "1" && status["Mask"] == "0077" && status["Core"] == "0")
    }

    @Test("A user whose bounding set cannot be changed has nothing else left")
    func asUser() async throws {
        let prefix =
            geteuid() == 0
            ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "-all"] : []
        let status = try await Self.status(prefix)
        for set in Self.sets where set != "CapBnd" { #expect(status[set] == Self.none, "\(set)") }
        #expect(status["NoNewPrivs"] == "1" && status["Mask"] == "0077" && status["Core"] == "0")
    }

    @Test("A process with several threads is refused before it gives up anything")
    func severalThreads() async throws {
        try await onThread {
            do throws(SandboxError) {
                try Sandbox.enter()
                Issue.record("entered with several threads")
            } catch {
                guard case .severalThreads(let count) = error else {
                    Issue.record("refused for another reason: \(error)")
                    return
                }
                #expect(count > 1)
            }
        }
    }
}
