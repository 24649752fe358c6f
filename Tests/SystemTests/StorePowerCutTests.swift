import Foundation
import Testing

/// The power is cut at a random moment while a process saves: an ext4 file system of the test's own forgets what is not on
/// the disk, and is mounted again.
@Suite("Store under power cuts", .serialized, .enabled(if: StoreLab.canMountLoop, "needs root and loop mounts"))
struct StorePowerCutTests {
    /// How many trials each mount mode gets; PROVIDERHOST_POWER_CUTS sets another number.
    static let trials = ProcessInfo.processInfo.environment["PROVIDERHOST_POWER_CUTS"].flatMap(Int.init) ?? 50

    @Test("What was acknowledged is there, and nothing is torn", arguments: ["auto_da_alloc", "noauto_da_alloc"])
    func powerCut(_ mode: String) throws {
        var cutWhileSaving = 0
        try cut(mode, Self.trials) { trial, before, acknowledged, stored in
            // The save that was under way is there or not.
            #expect(
                stored >= acknowledged.lowerBound && stored <= acknowledged.upperBound + 1,
                "trial \(trial): \(acknowledged) were acknowledged, \(stored) are stored")
            if acknowledged.lowerBound > before { cutWhileSaving += 1 }
        }
        // Else the cuts came before or after everything, and have shown nothing.
        #expect(cutWhileSaving > Self.trials / 4)
    }

    @Test("A store that does not wait for the disk would be found out")
    func withoutSync() throws {
        var lost = 0
        try cut(
            "auto_da_alloc", 8,
            prefix: ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync,fdatasync:retval=0"]
        ) {
            _, _, acknowledged, stored in
            if stored < acknowledged.lowerBound { lost += 1 }
        }
        #expect(lost > 0)
    }

    /// Cuts the power so often, and tells what had been stored before, what had been acknowledged at the moment of the cut
    /// and in the end, and what is stored.
    private func cut(
        _ mode: String, _ trials: Int, prefix: [String] = [],
        _ judge: (_ trial: Int, _ before: Int, _ acknowledged: ClosedRange<Int>, _ stored: Int) -> Void
    ) throws {
        let lab = try StoreLab()
        try FileManager.default.createDirectory(atPath: lab.path("disk"), withIntermediateDirectories: false)
        try Machine.host("truncate", "-s", "64M", lab.path("image"))
        try Machine.host("mkfs.ext4", "-q", lab.path("image"))
        let mounts = try MountNamespace(log: lab.path("mounts"))
        defer { mounts.end() }
        var before = 0
        for trial in 0..<trials {
            try mounts("mount", "-o", "loop,\(mode)", lab.path("image"), lab.path("disk"))
            // Every fourth trial makes a new store, so that making one is cut as well.
            if trial.isMultiple(of: 4) {
                try mounts("rm", "-rf", lab.path("disk/store"))
                try mounts("sync", "-f", lab.path("disk"))
                before = 0
            }
            let child = try lab.start(
                "save", lab.path("disk/store"), "100000", prefix: mounts.prefix + prefix, log: lab.path("log"))
            defer { child.end() }
            usleep(UInt32.random(in: 5_000...150_000) * (prefix.isEmpty ? 1 : 4))
            let cut = try lab.run("shutdown", lab.path("disk"), lab.path("log"), prefix: mounts.prefix)
            try #require(cut.text.hasPrefix("shut down after "), "\(cut.text)")
            // The process finds that its disk is gone; one that is traced would leave its own child behind if it were killed.
            _ = try child.waitForExit()
            let atTheCut = max(before, StoreLab.acknowledged(String(cut.text.dropFirst("shut down after ".count))))
            let inTheEnd = max(atTheCut, StoreLab.acknowledged(child.output))
            try mounts("umount", lab.path("disk"))

            try mounts("mount", "-o", "loop,\(mode)", lab.path("image"), lab.path("disk"))
            // Without syncs the store may be in any state; it is then as good as lost.
            let check = Result { try StoreLab.stored(lab.run("check", lab.path("disk/store"), prefix: mounts.prefix)) }
            let stored = prefix.isEmpty ? try check.get() : (try? check.get()) ?? 0
            judge(trial, before, atTheCut...inTheEnd, stored)
            before = stored
            try mounts("umount", lab.path("disk"))
        }
    }
}
