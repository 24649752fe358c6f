import Foundation
import Testing

/// How a tunnel starts and ends: whatever ends it, the provider's stop is called and nothing of ours is left.
@Suite("Life cycle of run", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct LifecycleTests {
    /// Brings a tunnel up at the left end, lets `body` end it, and compares the machine with what it was before.
    private func expectClean(
        status expected: Int32, lastLine: String, options: [String] = [], _ body: (Lab, Child) throws -> Void
    ) throws {
        try Lab.run { lab in
            let before = try lab.left.networkState()
            let pair = try TunnelPair()
            let file = try lab.write("tunnel.conf", pair.leftFile)
            let child = try lab.start(
                on: lab.left,
                [Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file] + options)
            try child.waitFor("connected phtun0")
            #expect(try lab.left("ip", "-br", "link").contains("phtun0"))
            #expect(try lab.left("ip", "address", "show", "phtun0").contains("10.7.0.1/24"))
            let workers = child.childProcesses()
            #expect(workers.count == 1, "one worker per session")
            try body(lab, child)
            #expect(try child.waitForExit(seconds: 30) == expected, "\(child.output)")
            let line = child.output.split(separator: "\n").last.map(String.init) ?? ""
            #expect(line.contains(lastLine), "\(child.output)")
            for worker in workers { #expect(kill(worker, 0) != 0, "worker \(worker) is still there") }
            #expect(try lab.left.networkState() == before)
        }
    }

    @Test("Ctrl-C, SIGTERM and SIGHUP stop through the provider", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(number: Int32) throws {
        try expectClean(status: 0, lastLine: "disconnected") { _, child in child.signal(number) }
    }

    @Test("The interface is deleted from outside")
    func interfaceDeleted() throws {
        try expectClean(status: 1, lastLine: "phtun0") { lab, _ in try lab.left("ip", "link", "del", "phtun0") }
    }

    @Test("A worker killed while connected: the interface stays, a fresh worker carries the traffic on")
    func workerKilled() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let ours = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1")
            let routes = try lab.right.routesAndRules()
            let index = try lab.right("cat", "/sys/class/net/phtun0/ifindex")
            let worker = try #require(ours.childProcesses().first)
            kill(worker, SIGKILL)
            try ours.waitFor("reasserting")
            #expect(try lab.right.routesAndRules() == routes)
            #expect(try lab.right("cat", "/sys/class/net/phtun0/ifindex") == index)
            try ours.waitFor("connected phtun0", moreThan: 1)
            let fresh = try #require(ours.childProcesses().first)
            #expect(fresh != worker)
            try eventually(seconds: 10, "traffic through the fresh worker") { try lab.right.reaches("10.7.0.1") }
            #expect(try lab.right.routesAndRules() == routes)
            ours.signal(SIGINT)
            #expect(try ours.waitForExit() == 0)
        }
    }

    @Test("A worker that dies four times in a row ends the session with pluginFailed")
    func workerKeepsDying() throws {
        try expectClean(status: 1, lastLine: "disconnected") { _, child in
            var seen: Set<pid_t> = []
            let deadline = Date.now.addingTimeInterval(60)
            while seen.count < 4 && child.isRunning && Date.now < deadline {
                if let worker = child.childProcesses().first, seen.insert(worker).inserted { kill(worker, SIGKILL) }
                usleep(2_000)
            }
            #expect(seen.count == 4)
        }
    }

    @Test("A manager killed takes its worker along; the next run starts on what was left")
    func managerKilled() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let first = try lab.startTunnel(on: lab.left, pair.leftFile)
            let worker = try #require(first.childProcesses().first)
            first.signal(SIGKILL)
            _ = try first.waitForExit()
            try eventually("the end of the worker") { kill(worker, 0) != 0 }
            let second = try lab.startTunnel(on: lab.left, pair.leftFile)
            second.signal(SIGTERM)
            #expect(try second.waitForExit() == 0)
        }
    }

    @Test("JSON lines have a schema, an event, a status, an interface and an error")
    func json() throws {
        try Lab.run { lab in
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            let child = try lab.start(
                on: lab.left,
                [Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file, "--json"])
            try child.waitFor("\"connected\"")
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0)
            let objects = try child.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
            }
            let changes = objects.filter { $0["event"] as? String == "status" }
            #expect(
                changes.compactMap { $0["status"] as? String } == [
                    "connecting", "connected", "disconnecting", "disconnected",
                ])
            for object in changes {
                #expect(object["schema"] as? Int == 1)
                #expect(object["interface"] as? String == "phtun0")
                #expect(object.keys.contains("error"))
            }
        }
    }

    @Test("The worker has no capability and cannot gain one")
    func workerPrivileges() throws {
        try Lab.run { lab in
            let child = try lab.startTunnel(on: lab.left, TunnelPair().leftFile)
            let worker = try #require(child.childProcesses().first)
            let status = try String(contentsOfFile: "/proc/\(worker)/status", encoding: .utf8)
            for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                #expect(status.contains("\(set):\t0000000000000000"), "\(set)")
            }
            #expect(status.contains("NoNewPrivs:\t1"))
        }
    }

    @Test("The loopback provider answers ping and reflects UDP")
    func loopback() throws {
        try Lab.run { lab in
            let before = try lab.left.networkState()
            let child = try lab.start(
                on: lab.left, [Lab.providerhost, "run", "--bundle-id", "org.providerhost.loopback"])
            try child.waitFor("connected phtun0")
            try lab.left.ping("10.99.0.7")
            try lab.left.ping("fd99::7")
            let echo = try lab.left(
                "bash", "-c", "exec 3<>/dev/udp/10.99.0.7/9; echo hello >&3; timeout 2 head -c 6 <&3")
            #expect(echo == "hello\n")
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0)
            #expect(try lab.left.networkState() == before)
        }
    }
}
