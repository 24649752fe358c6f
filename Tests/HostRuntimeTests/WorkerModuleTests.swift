import Foundation
import ProviderKit
import Testing

@testable import HostRuntime

/// Shared libraries that are wrong in one way each, and the loopback module that the build left beside the tests.
@Suite("Module loading") struct WorkerModuleTests {
    /// A folder of its own, removed with the value.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "providerhost-\(UUID().uuidString)"
        ).path
        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Compiles C source to a library and returns its path.
        func library(_ source: String) throws -> String {
            let file = path + "/module.c"
            try source.write(toFile: file, atomically: true, encoding: .utf8)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["clang", "-shared", "-fPIC", "-o", path + "/module.so", file]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0, "clang, part of the Swift toolchain, must compile the module")
            return path + "/module.so"
        }
    }

    static func context() throws -> WorkerContext {
        let (_, far) = try makeChannelPair()
        let channel = WorkerChannel(far)
        let device = try ChannelSystem.socketPair().0
        return WorkerContext(
            configuration: Messages.configuration, packetFlow: try TunPacketFlow(device: device, headerLength: 10),
            channel: channel, log: WorkerLog(channel, level: .error))
    }

    static func error(_ path: String) throws -> ModuleError? {
        let context = try context()
        do throws(ModuleError) {
            _ = try ModuleLoader.load(path: path, principalClass: "M.P", context: context)
            return nil
        } catch {
            #expect(error.errorDomain == "NEVPNConnectionErrorDomain" && error.errorCode == 14)
            #expect(error.cause.contains(path) && !error.remedy.isEmpty)
            return error
        }
    }

    @Test("A module that is missing")
    func missing() throws {
        #expect(try Self.error("/nonexistent/module.so") == .missing(path: "/nonexistent/module.so"))
    }

    @Test("A file that is no library is refused in the linker's words")
    func notLoadable() throws {
        let folder = try Folder()
        let path = folder.path + "/module.so"
        try "no library".write(toFile: path, atomically: true, encoding: .utf8)
        guard case .notLoadable(path, let reason) = try Self.error(path) else {
            Issue.record("loaded")
            return
        }
        #expect(reason.contains("module.so"))
    }

    @Test("A library without stamp")
    func noStamp() throws {
        let folder = try Folder()
        let path = try folder.library("int x;")
        #expect(try Self.error(path) == .noStamp(path: path))
    }

    @Test("Another stamp is named together with the host's, also one without an end")
    func otherStamp() throws {
        let folder = try Folder()
        let path = try folder.library(
            "const char providerhost_module_stamp[] = \"ProviderKit 0\"; void *providerhost_create_Provider;")
        #expect(try Self.error(path) == .otherStamp(path: path, module: "ProviderKit 0", host: ProviderModule.stamp))
        let other = try Folder()
        let endless = try other.library(
            "const char providerhost_module_stamp[1000] = {[0 ... 999] = 'x'};")
        #expect(
            try Self.error(endless)
                == .otherStamp(
                    path: endless, module: String(repeating: "x", count: 256), host: ProviderModule.stamp))
    }

    @Test("The right stamp without a factory")
    func noFactory() throws {
        let folder = try Folder()
        let path = try folder.library(
            "const char providerhost_module_stamp[] = \"\(ProviderModule.stamp)\";")
        #expect(try Self.error(path) == .noFactory(path: path, symbol: "providerhost_create_P"))
    }

    @Test("The loopback module loads and makes a provider of this host")
    func loads() throws {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let path = folder.appendingPathComponent("libLoopbackProvider.so").path
        let provider = try ModuleLoader.load(
            path: path, principalClass: "LoopbackProvider.LoopbackProvider", context: try Self.context())
        #expect(String(reflecting: type(of: provider)) == "LoopbackProvider.LoopbackProvider")
    }
}
