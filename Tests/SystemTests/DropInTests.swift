import Foundation
import Testing

/// `providerhost wireguard`: how it starts and ends, and what wg-quick makes of it.
@Suite("The drop-in command", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DropInTests {
    /// Starts in the background, runs `body`, and sees to it that nothing stays.
    private func inBackground(_ lab: Lab, _ body: (String) throws -> Void) throws {
        let interface = uniqueInterface()
        defer {
            _ = try? lab.left.attempt("ip", "link", "del", interface)
            for pid in (try? Machine.servers(of: interface)) ?? [] { kill(pid, SIGTERM) }
        }
        try lab.left(Lab.providerhost, "wireguard", interface)
        try body(interface)
    }

    private func expectEnd(of interface: String, on machine: Machine) throws {
        try eventually(seconds: 2, "the end of \(interface)") {
            try Machine.servers(of: interface).isEmpty && machine.attempt("ip", "link", "show", interface).status != 0
        }
        #expect(!FileManager.default.fileExists(atPath: controlSocket(of: interface)))
    }

    @Test("Returns when interface and socket are there; deleting the interface ends it, and the name is free at once")
    func background() throws {
        try Lab.run { lab in
            try inBackground(lab) { interface in
                #expect(try lab.left("wg", "show", interface).contains("interface: \(interface)"))
                #expect(try lab.left("ip", "link", "show", interface).contains("mtu 1420"))
                let servers = try Machine.servers(of: interface)
                try #require(servers.count == 1)
                let names = try Machine.host("ps", "-o", "comm=", "-p", "\(servers[0])", "--ppid", "\(servers[0])")
                #expect(names == "wireguard-provi\nproviderhost\n")
                try lab.left("ip", "link", "del", interface)
                try lab.left(Lab.providerhost, "wireguard", interface)
                #expect(try lab.left.attempt("wg", "show", interface).status == 0)
                try lab.left("ip", "link", "del", interface)
                try expectEnd(of: interface, on: lab.left)
            }
        }
    }

    @Test("Removing the socket ends it")
    func socketRemoved() throws {
        try Lab.run { lab in
            try inBackground(lab) { interface in
                try FileManager.default.removeItem(atPath: controlSocket(of: interface))
                try expectEnd(of: interface, on: lab.left)
            }
        }
    }

    @Test("SIGTERM and SIGINT end it cleanly", arguments: [SIGTERM, SIGINT])
    func signals(number: Int32) throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let child = try lab.make(.ours, interface, on: lab.left)
            child.signal(number)
            #expect(try child.waitForExit() == 0, "\(child.output)")
            try expectEnd(of: interface, on: lab.left)
        }
    }

    @Test("A name that is taken is refused with a message, and its owner is left alone")
    func taken() throws {
        try Lab.run { lab in
            try inBackground(lab) { interface in
                let same = try lab.left.attempt(Lab.providerhost, "wireguard", interface)
                #expect(same.status != 0 && same.text.contains(interface))
                // The same name in another namespace: the interface is free there, the socket is not.
                let other = try lab.right.attempt(Lab.providerhost, "wireguard", interface)
                #expect(other.status != 0 && other.text.contains(controlSocket(of: interface)), "\(other.text)")
                #expect(try lab.right.attempt("ip", "link", "show", interface).status != 0)
                #expect(try lab.left.attempt("wg", "show", interface).status == 0)
            }
            let wrong = try lab.left.attempt(Lab.providerhost, "wireguard", "a/b")
            #expect(wrong.status == 2)
        }
    }

    @Test("What a killed process left is replaced")
    func killed() throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let child = try lab.make(.ours, interface, on: lab.left)
            child.signal(SIGKILL)
            _ = try child.waitForExit()
            #expect(FileManager.default.fileExists(atPath: controlSocket(of: interface)))
            try eventually("the end of the worker") {
                try lab.left.attempt("ip", "link", "show", interface).status != 0
            }
            let next = try lab.make(.ours, interface, on: lab.left)
            next.signal(SIGTERM)
            #expect(try next.waitForExit() == 0)
        }
    }

    @Test("Sockets are open while the interface is up, stay in the namespace of birth, and the end is seen from there")
    func otherNamespace() throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let child = try lab.make(.ours, interface, on: lab.left)
            func sockets() throws -> String { try lab.left("ss", "-Huln", "sport = :40000") }
            try lab.left("wg", "set", interface, "listen-port", "40000")
            #expect(try sockets().isEmpty)
            try lab.left("ip", "link", "set", interface, "netns", lab.right.namespace)
            try lab.right("ip", "link", "set", interface, "up")
            try eventually(seconds: 1, "sockets") { try !sockets().isEmpty }
            #expect(try lab.right("ss", "-Huln").isEmpty)
            try lab.right("ip", "link", "set", interface, "down")
            try eventually(seconds: 2, "closed sockets") { try sockets().isEmpty }
            #expect(try lab.left("wg", "show", interface, "listen-port") == "40000\n")
            try lab.right("ip", "link", "set", interface, "up")
            try eventually(seconds: 1, "sockets") { try !sockets().isEmpty }
            try lab.right("ip", "link", "del", interface)
            _ = try child.waitForExit(seconds: 2)
            #expect(!FileManager.default.fileExists(atPath: controlSocket(of: interface)))
        }
    }

    @Test("wg-quick up and down, with a default route through the tunnel, both ends ours")
    func wgQuick() throws {
        try Lab.run { lab in
            let path = try lab.pathWithLink()
            let names = [uniqueInterface(), uniqueInterface()]
            let pair = try TunnelPair()
            let all = pair.rightFile.replacingOccurrences(
                of: "AllowedIPs = 10.7.0.1/32, fd07::1/128", with: "AllowedIPs = 0.0.0.0/0, ::/0")
            let files = try [
                lab.write("\(names[0]).conf", pair.leftFile), lab.write("\(names[1]).conf", all),
            ]
            func quick(_ machine: Machine, _ verb: String, _ file: String) throws {
                try machine(
                    "env", "PATH=\(path)", "WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-providerhost", "wg-quick", verb,
                    file)
            }
            let machines = [lab.left, lab.right]
            let before = try machines.map { try $0.routesAndRules() }
            defer { for name in names { for pid in (try? Machine.servers(of: name)) ?? [] { kill(pid, SIGTERM) } } }
            for (machine, file) in zip(machines, files) { try quick(machine, "up", file) }
            #expect(try lab.right("ip", "rule").contains("not from all fwmark"))
            try lab.right.pingOnce("10.7.0.1")
            try lab.right.pingOnce("fd07::1")
            try lab.left.pingOnce("10.7.0.2")
            // An address that only the default route reaches: the packet comes out at the far end and is answered there.
            try lab.left("ip", "address", "add", "198.51.100.1/32", "dev", "lo")
            try lab.right.pingOnce("198.51.100.1")
            for (machine, file) in zip(machines, files) { try quick(machine, "down", file) }
            for (machine, name) in zip(machines, names) { try expectEnd(of: name, on: machine) }
            try lab.left("ip", "address", "del", "198.51.100.1/32", "dev", "lo")
            #expect(try machines.map { try $0.routesAndRules() } == before)
        }
    }
}
