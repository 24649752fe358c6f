import Foundation
import ProviderKit
import Session
import Synchronization
import Testing

@testable import HostRuntime

/// The control socket of a session: who is served, who is cut off, and when the file comes and goes.
@Suite(
    "Manager and control socket", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: geteuid() == 0, "needs root for /var/run"))
struct ManagerControlTests {
    /// A session with a control socket in a folder of its own, removed at the end.
    private final class Session {
        let directory = "ph-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var path: String { "/var/run/\(directory)/phtun7.sock" }
        var fileExists: Bool { FileManager.default.fileExists(atPath: path) }

        func harness(_ care: InterfaceCare = .host) throws -> ManagerHarness {
            try ManagerHarness {
                $0.controlSocketDirectory = directory
                $0.interfaceCare = care
            }
        }

        func connect() throws -> Descriptor {
            let client = Descriptor(adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let result = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(client.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else { throw Unexpected("connect: \(errno)") }
            return client
        }

        deinit { try? FileManager.default.removeItem(atPath: "/var/run/\(directory)") }
    }

    /// The seconds until the other end of a connection is gone; nil if it is still there after `limit` seconds.
    private func secondsToEnd(_ client: Descriptor, limit: Double) throws -> Double? {
        let began = Date.now
        guard try ChannelSystem.waitToRead(client.number, milliseconds: Int32(limit * 1000)) else { return nil }
        var byte: UInt8 = 0
        return unsafe read(client.number, &byte, 1) <= 0 ? Date.now.timeIntervalSince(began) : nil
    }

    /// The next connection that the worker is given.
    private func nextConnection(_ worker: FakeWorker) throws -> (UInt64, Descriptor) {
        let (message, descriptors) = try worker.nextWithDescriptors()
        guard case .controlConnection(let id) = message else { throw Unexpected("\(message)") }
        return (id, try #require(descriptors.first))
    }

    @Test("A client talks with the worker, and sees the end when the worker closes")
    func served() async throws {
        try await onThread {
            let session = Session()
            let harness = try session.harness()
            let worker = try harness.connect()
            var status = stat()
            #expect(unsafe lstat(session.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let client = try session.connect()
            let (id, connection) = try nextConnection(worker)
            #expect(ChannelSystem.write(client.number, [7]) == 1)
            var byte: UInt8 = 0
            #expect(unsafe read(connection.number, &byte, 1) == 1 && byte == 7)
            connection.close()
            try worker.channel.sendWaiting(.controlActivity(id: id, .closed))
            #expect(try secondsToEnd(client, limit: 1) != nil)
            #expect(try harness.stop(worker) == .stopped)
            #expect(!session.fileExists)
        }
    }

    @Test("A worker that is silent costs its clients less than a second, and the session nothing")
    func silent() async throws {
        try await onThread {
            let session = Session()
            let harness = try session.harness()
            let worker = try harness.connect()
            let clients = try (0..<40).map { _ in try session.connect() }
            let began = Date.now
            for client in clients { #expect(try secondsToEnd(client, limit: 2) != nil) }
            #expect(Date.now.timeIntervalSince(began) < 1.5)
            // It wakes up and finds nobody on the line.
            for _ in 0..<ControlClients.unansweredLimit {
                let (id, _) = try nextConnection(worker)
                try worker.channel.sendWaiting(.controlActivity(id: id, .waiting))
            }
            let fresh = try session.connect()
            _ = try nextConnection(worker)
            #expect(try secondsToEnd(fresh, limit: 0.3) == nil)
            #expect(harness.statuses.last == .connected)
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test(
        "A worker that says that it works keeps its client, and so does one that waits; unread input is another matter")
    func working() async throws {
        try await onThread {
            let session = Session()
            let harness = try session.harness()
            let worker = try harness.connect()
            let client = try session.connect()
            let (id, connection) = try nextConnection(worker)
            for _ in 0..<4 {
                try worker.channel.sendWaiting(.controlActivity(id: id, .working))
                #expect(try secondsToEnd(client, limit: 0.5) == nil)
            }
            try worker.channel.sendWaiting(.controlActivity(id: id, .waiting))
            #expect(try secondsToEnd(client, limit: 1.5) == nil)
            #expect(ChannelSystem.write(client.number, [1]) == 1)
            let seconds = try #require(try secondsToEnd(client, limit: 2))
            #expect(seconds > 0.3 && seconds < 1.3)
            _ = connection
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test("The socket goes before the provider has stopped, and with it every connection")
    func removedFirst() async throws {
        try await onThread {
            let session = Session()
            let harness = try session.harness()
            let worker = try harness.connect()
            let client = try session.connect()
            let (id, _) = try nextConnection(worker)
            try worker.channel.sendWaiting(.controlActivity(id: id, .waiting))
            harness.host.stop(.userInitiated)
            #expect(try worker.next() == .stop(.userInitiated))
            #expect(!session.fileExists)
            #expect(try secondsToEnd(client, limit: 0.5) != nil)
            try worker.channel.sendWaiting(.stopCompleted)
            #expect(try harness.end() == .stopped)
        }
    }

    @Test("Removing the file ends a session that tools look after, and no other", arguments: [true, false])
    func fileRemoved(byTools: Bool) async throws {
        try await onThread {
            let session = Session()
            let harness = try session.harness(byTools ? .tools(device: nil, listener: nil) : .host)
            let worker = try harness.connect()
            try FileManager.default.removeItem(atPath: session.path)
            if byTools {
                #expect(try worker.next() == .stop(.userInitiated))
                try worker.channel.sendWaiting(.stopCompleted)
                #expect(try harness.end() == .stopped)
            } else {
                // A file of somebody else's in its place is left alone.
                #expect(FileManager.default.createFile(atPath: session.path, contents: nil))
                #expect(try harness.stop(worker) == .stopped)
                #expect(session.fileExists)
            }
        }
    }

    @Test("A file that a dead program left is replaced")
    func stale() async throws {
        try await onThread {
            let session = Session()
            let dead = try ControlSocket(directory: session.directory, interface: "other")
            try FileManager.default.moveItem(atPath: dead.path, toPath: session.path)
            dead.remove()
            #expect(session.fileExists)
            let harness = try session.harness(.tools(device: nil, listener: nil))
            let worker = try harness.connect()
            let client = try session.connect()
            _ = try nextConnection(worker)
            _ = client
            #expect(try harness.stop(worker) == .stopped)
            #expect(!session.fileExists)
        }
    }

    @Test("A socket that is served is an error for tools, and a warning otherwise", arguments: [true, false])
    func taken(byTools: Bool) async throws {
        try await onThread {
            let session = Session()
            let other = try ControlSocket(directory: session.directory, interface: "phtun7")
            if byTools {
                let harness = try session.harness(.tools(device: nil, listener: nil))
                #expect(try harness.end() == .startFailed)
                #expect(harness.lastError?.cause.contains(session.path) == true)
                #expect(harness.system.events.all == ["create", "tear down"])
            } else {
                let harness = try session.harness()
                let worker = try harness.connect()
                try harness.waitForLine("cannot reach this tunnel")
                #expect(try harness.stop(worker) == .stopped)
            }
            #expect(session.fileExists)
            other.remove()
            #expect(!session.fileExists)
        }
    }

    @Test("A socket that listens already is taken over; other descriptors are refused")
    func inherited() throws {
        let session = Session()
        let first = try ControlSocket(directory: session.directory, interface: "phtun7")
        let listener = Descriptor(adopting: try ChannelSystem.duplicate(first.listenDescriptor))
        let second = try ControlSocket(directory: session.directory, interface: "phtun7", inherited: listener)
        let client = try session.connect()
        #expect(second.accept() != nil && second.accept() == nil)
        _ = client
        second.remove()
        #expect(!session.fileExists)
        let memory = try ChannelSystem.sealedMemory([])
        let error = try #require(throws: InterfaceError.self) {
            try ControlSocket(directory: session.directory, interface: "phtun7", inherited: memory)
        }
        #expect(error.code == .controlSocketFailed)
    }
}
