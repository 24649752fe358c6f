import Foundation
import Netlink
import Testing

@testable import NetworkSettings

/// The managed resolv.conf, in a folder of each test's own.
@Suite("resolv.conf")
struct ResolverFileTests {
    private final class Scratch {
        let folder = NSTemporaryDirectory() + "/phresolv-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var path: String { folder + "/resolv.conf" }
        var file: ResolverFile { ResolverFile(path: path) }

        init(_ text: String? = "nameserver 192.0.2.53\n# mine\n", mode: Int = 0o640) throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            if let text { try write(text) }
            if text != nil { _ = unsafe chmod(path, mode_t(mode)) }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func write(_ text: String) throws { try text.write(toFile: path, atomically: false, encoding: .utf8) }
        var text: String? { try? String(contentsOfFile: path, encoding: .utf8) }
        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }
        var status: stat {
            var status = stat()
            _ = unsafe lstat(path, &status)
            return status
        }
    }

    private func link(_ name: String) -> Link { Link(index: 7, name: name, flags: 1, mtu: 1420) }

    private func configuration(_ servers: [String], search: [String] = []) -> ResolverConfiguration {
        ResolverConfiguration(
            servers: servers.compactMap { IPAddress($0) },
            domains: search.compactMap { DomainName($0) }.map { .init(name: $0, isRouteOnly: false) }, isDefault: true)
    }

    @Test("servers and search are written with the file's mode, and the very file comes back")
    func restored() throws {
        let scratch = try Scratch()
        let before = scratch.status
        try scratch.file.set(configuration(["10.7.0.1", "fd07::1"], search: ["a.example"]), on: link("phtun0"))
        let text = try #require(scratch.text)
        #expect(text.hasSuffix("\nnameserver 10.7.0.1\nnameserver fd07::1\nsearch a.example\n"))
        #expect(!text.contains("192.0.2.53"))
        #expect(scratch.status.st_mode == before.st_mode && scratch.status.st_ino != before.st_ino)
        #expect(scratch.names == ["resolv.conf", "resolv.conf.providerhost"])
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.text == "nameserver 192.0.2.53\n# mine\n" && scratch.names == ["resolv.conf"])
        #expect(scratch.status.st_ino == before.st_ino && scratch.status.st_mode == before.st_mode)
    }

    @Test("a symbolic link comes back as one, also one to nothing", arguments: [true, false])
    func symbolicLink(hasTarget: Bool) throws {
        let scratch = try Scratch(nil)
        if hasTarget {
            try "nameserver 192.0.2.53\n".write(
                toFile: scratch.folder + "/target", atomically: false, encoding: .utf8)
        }
        try FileManager.default.createSymbolicLink(atPath: scratch.path, withDestinationPath: "target")
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        #expect(scratch.text?.contains("nameserver 10.7.0.1") == true)
        #expect(scratch.status.st_mode & S_IFMT == S_IFREG)
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.path) == "target")
        #expect(scratch.names == (hasTarget ? ["resolv.conf", "target"] : ["resolv.conf"]))
    }

    @Test("where there was no file there is none again")
    func missing() throws {
        let scratch = try Scratch(nil)
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        #expect(scratch.status.st_mode & 0o777 == 0o644)
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.names == [])
    }

    @Test("two tunnels: the newer one's servers come first, and the last one restores")
    func twoTunnels() throws {
        let scratch = try Scratch()
        try scratch.file.set(configuration(["10.7.0.1"], search: ["a.example"]), on: link("phtun0"))
        try scratch.file.set(configuration(["10.8.0.1"], search: ["b.example"]), on: link("phtun1"))
        #expect(
            scratch.text?.hasSuffix("nameserver 10.8.0.1\nnameserver 10.7.0.1\nsearch b.example a.example\n") == true)
        try scratch.file.set(nil, on: link("phtun1"))
        #expect(scratch.text?.hasSuffix("nameserver 10.7.0.1\nsearch a.example\n") == true)
        try scratch.file.set(configuration(["10.9.0.1"]), on: link("phtun0"))
        #expect(scratch.text?.hasSuffix("nameserver 10.9.0.1\n") == true)
        #expect(scratch.text?.contains("10.7.0.1") == false)
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.text == "nameserver 192.0.2.53\n# mine\n")
    }

    @Test("a fresh process restores what killed ones left, and leaves live ones alone")
    func sweep() throws {
        let scratch = try Scratch()
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        try scratch.file.set(configuration(["10.8.0.1"]), on: link("phtun1"))
        #expect(try scratch.file.sweep { $0 == "phtun1" } == ["phtun1"])
        #expect(scratch.text?.hasSuffix("nameserver 10.7.0.1\n") == true)
        #expect(try scratch.file.sweep { _ in false } == [])
        #expect(try scratch.file.sweep { _ in true } == ["phtun0"])
        #expect(scratch.text == "nameserver 192.0.2.53\n# mine\n" && scratch.names == ["resolv.conf"])
        #expect(try scratch.file.sweep { _ in true } == [])
    }

    @Test("what another program wrote meanwhile stays")
    func overwritten() throws {
        let scratch = try Scratch()
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        try scratch.write("nameserver 198.51.100.1\n")
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.text == "nameserver 198.51.100.1\n")
        // The next tunnel keeps that file, not the one from before.
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.text == "nameserver 198.51.100.1\n" && scratch.names == ["resolv.conf"])
    }

    @Test("what a killed process had begun is undone, also where nobody's servers stand in the file")
    func unfinished() throws {
        let original = "nameserver 192.0.2.53\n# mine\n"
        let scratch = try Scratch(original)
        let (backup, fresh) = (scratch.path + ".providerhost", scratch.path + ".new")
        // Killed after the backup was made, and while the new file was written.
        try FileManager.default.linkItem(atPath: scratch.path, toPath: backup)
        try "half".write(toFile: fresh, atomically: false, encoding: .utf8)
        #expect(try scratch.file.sweep { _ in true } == [])
        #expect(scratch.text == original && scratch.names == ["resolv.conf"])
        // Killed while a file that cannot be replaced was written over, and it is empty.
        try FileManager.default.copyItem(atPath: scratch.path, toPath: backup)
        try "half".write(toFile: backup + ".new", atomically: false, encoding: .utf8)
        try scratch.write("")
        try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        #expect(scratch.text?.hasSuffix("nameserver 10.7.0.1\n") == true)
        try scratch.file.set(nil, on: link("phtun0"))
        #expect(scratch.text == original && scratch.names == ["resolv.conf"])
    }

    @Test("a file that cannot be replaced is left as it is, with an error that says why")
    func readOnly() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path + ".new", withIntermediateDirectories: true)
        let error = #expect(throws: ResolverError.self) {
            try scratch.file.set(configuration(["10.7.0.1"]), on: link("phtun0"))
        }
        #expect(error?.reason.contains("resolv.conf.new") == true && error?.description.contains("--dns none") == true)
        #expect(scratch.text == "nameserver 192.0.2.53\n# mine\n")
    }

    @Test("what we write is read back as it was, and anything else is not ours")
    func contents() {
        let sections = [
            ResolverFile.Contents.Section(
                interface: "phtun0", configuration: configuration(["10.7.0.1", "fd07::1"], search: ["a.b", "c"])),
            ResolverFile.Contents.Section(interface: "x", configuration: configuration(["10.8.0.1"])),
        ]
        for hasBackup in [true, false] {
            let contents = ResolverFile.Contents(sections: sections, hasBackup: hasBackup)
            #expect(ResolverFile.Contents(contents.text) == contents)
        }
        #expect(ResolverFile.Contents("") == nil && ResolverFile.Contents("nameserver 1.1.1.1\n") == nil)
    }
}
