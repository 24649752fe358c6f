import Foundation
import Testing

/// Every system call of a save fails once: the stored configuration is the old one or the new one, never half of each, and
/// what the caller was told is true.
@Suite("Store under faults", .serialized)
struct StoreFaultTests {
    /// One kind of call and how it fails.
    struct Fault: CustomTestStringConvertible {
        let calls: String
        let error: String
        var testDescription: String { "\(calls): \(error)" }
    }

    static let faults = [
        Fault(calls: "write,pwrite64", error: "ENOSPC"), Fault(calls: "write,pwrite64", error: "EIO"),
        Fault(calls: "fsync,fdatasync", error: "EIO"), Fault(calls: "openat,open", error: "EROFS"),
        Fault(calls: "ftruncate,fallocate", error: "ENOSPC"), Fault(calls: "pread64,read", error: "EIO"),
        Fault(calls: "link,unlink,rename", error: "EIO"), Fault(calls: "fcntl", error: "ENOLCK"),
    ]

    @Test("A failed call leaves old or new, and the caller is told", arguments: faults)
    func failedCall(_ fault: Fault) throws {
        try sweep("error=\(fault.error)", fault.calls)
    }

    @Test("A process that is killed at any call leaves old or new")
    func killedAtAnyCall() throws {
        try sweep("signal=KILL", "write,pwrite64,fsync,fdatasync,openat,ftruncate,rename,link,unlink,fcntl,mmap")
    }

    /// Fails the first matching call, then the second, until a run has no call left to fail.
    private func sweep(_ injection: String, _ calls: String) throws {
        let lab = try StoreLab()
        // A store that was saved once, and one that does not exist yet.
        try #require(try lab.run("save", lab.path("old"), "3").status == 0)
        for (source, before) in [("old", 3), (nil, 0)] as [(String?, Int)] {
            var index = 0
            var hasHit = true
            while hasHit {
                index += 1
                let name = "case-\(index)"
                if let source { try FileManager.default.copyItem(atPath: lab.path(source), toPath: lab.path(name)) }
                defer { try? FileManager.default.removeItem(atPath: lab.path(name)) }
                let log = lab.path("trace")
                let outcome = try lab.run(
                    "save", lab.path(name), "1",
                    prefix: [
                        "strace", "-f", "-qq", "-o", log, "-P", lab.path(name), "-P", lab.path(name + "/store.sqlite"),
                        "-P", lab.path(name + "/store.sqlite-wal"), "-P", lab.path(name + "/store.sqlite-shm"),
                        "-P", lab.path(name + "/device.key"), "-P", lab.path(name + "/store.lock"),
                        "-e", "trace=\(calls)", "-e", "inject=\(calls):\(injection):when=\(index)",
                    ])
                hasHit = try String(contentsOfFile: log, encoding: .utf8).contains(
                    injection.hasPrefix("signal") ? "killed by SIGKILL" : "(INJECTED)")
                let stored = try lab.stored(in: name)
                let place = "\(calls) \(injection), call \(index) from \(before): \(outcome.text)"
                #expect(stored == before || stored == before + 1, "\(place)")
                if StoreLab.acknowledged(outcome.text) > 0 {
                    #expect(stored == before + 1, "acknowledged, but lost: \(place)")
                }
                if outcome.status == 3 { #expect(stored == before, "refused, but stored: \(place)") }
                #expect(outcome.status == 0 || outcome.status == 3 || injection.hasPrefix("signal"), "\(place)")
                // What comes next works.
                let next = try lab.run("save", lab.path(name), "1")
                #expect(next.text == "saved \(stored + 1)\n", "\(place); then \(next.text)")
                try #require(index < 2_000)
            }
            #expect(index > 1, "no call was hit")
        }
    }

    @Test("Processes that save at the same time lose nothing")
    func manyProcesses() throws {
        let lab = try StoreLab()
        // They meet at one configuration: each would make one of its own where there is none yet.
        try #require(try lab.run("save", lab.path("store"), "1").status == 0)
        let children = try (0..<4).map { try lab.start("count", lab.path("store"), "50", log: lab.path("log-\($0)")) }
        defer { for child in children { child.end() } }
        for child in children {
            let status = try child.waitForExit(seconds: 60)
            #expect(status == 0, "\(child.output)")
        }
        let outcome = try lab.run("save", lab.path("store"), "1")
        #expect(outcome.text == "saved 202\n", "\(outcome.text)")
    }

    @Test("A full disk keeps what was saved, and saves again when there is space", .enabled(if: isRoot, "needs root"))
    func diskFull() throws {
        let lab = try StoreLab()
        try FileManager.default.createDirectory(atPath: lab.path("disk"), withIntermediateDirectories: false)
        let script = """
            mount -t tmpfs -o size=2m none "$0" && mkdir -m 700 "$0/store" && head -c 500000 /dev/zero >"$0/filler" && exec "$@"
            """
        let outcome = try lab.run(
            "fill", lab.path("disk/store"), prefix: ["unshare", "-m", "sh", "-c", script, lab.path("disk")])
        let words = outcome.text.split(whereSeparator: \.isWhitespace)
        try #require(outcome.status == 0 && words.count == 10, "\(outcome.text)")
        let acknowledged = try #require(Int(words[1]))
        #expect(acknowledged > 3 && Int(words[3]) == acknowledged, "\(outcome.text)")
        // configurationReadWriteFailed, and why.
        #expect(words[5] == "5" && words[7] == "true", "\(outcome.text)")
        #expect(Int(words[9]) == acknowledged + 1, "\(outcome.text)")
    }
}
