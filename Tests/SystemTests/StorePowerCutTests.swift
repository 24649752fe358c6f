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
        let lab = try StoreLab()
        try FileManager.default.createDirectory(atPath: lab.path("disk"), withIntermediateDirectories: false)
        try Machine.host("truncate", "-s", "64M", lab.path("image"))
        try Machine.host("mkfs.ext4", "-q", lab.path("image"))
        defer { _ = try? Machine.outcome(["umount", "-l", lab.path("disk")]) }
        var before = 0
        var cutWhileSaving = 0
        for trial in 0..<Self.trials {
            try mount(lab, mode)
            // Every fourth trial makes a new store, so that making one is cut as well.
            if trial.isMultiple(of: 4) {
                try? FileManager.default.removeItem(atPath: lab.path("disk/store"))
                try Machine.host("sync", "-f", lab.path("disk"))
                before = 0
            }
            let child = try lab.start("save", lab.path("disk/store"), "100000", log: lab.path("log"))
            defer { child.end() }
            usleep(UInt32.random(in: 5_000...150_000))
            let cut = try lab.run("shutdown", lab.path("disk"))
            try #require(cut.text.contains("shut down"), "\(cut.text)")
            child.signal(SIGKILL)
            _ = try child.waitForExit()
            let acknowledged = max(before, StoreLab.acknowledged(child.output))
            try Machine.host("umount", lab.path("disk"))

            try mount(lab, mode)
            let stored = try lab.stored(in: "disk/store")
            #expect(
                stored == acknowledged || stored == acknowledged + 1,
                "trial \(trial): \(acknowledged) was acknowledged, \(stored) is stored")
            if acknowledged > before { cutWhileSaving += 1 }
            before = stored
            try Machine.host("umount", lab.path("disk"))
        }
        // Else the cuts came before or after everything, and have shown nothing.
        #expect(cutWhileSaving > Self.trials / 4)
    }

    private func mount(_ lab: StoreLab, _ mode: String) throws {
        try Machine.host("mount", "-o", "loop,\(mode)", lab.path("image"), lab.path("disk"))
    }
}
