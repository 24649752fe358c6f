internal import PacketPath
internal import SystemStore

/// What the kernel gives.
extension Check {
    /// /dev/net/tun.
    static func device(_ machine: MachineSnapshot) -> Check {
        let topic = "tun"
        switch machine.device {
        case .usable: return Check(topic, "interfaces can be made")
        case .refused(2), .refused(6), .refused(19):
            return Check(
                topic, "/dev/net/tun is missing",
                [
                    Finding(
                        .error,
                        "There is no device /dev/net/tun, so no interface can be made. "
                            + "A container must be given it (--device /dev/net/tun).", run: "modprobe tun")
                ])
        case .refused(13):
            return Check(
                topic, "/dev/net/tun cannot be opened",
                [Finding(.error, "This user may not open /dev/net/tun.", run: "chmod 666 /dev/net/tun")])
        case .refused(1) where !machine.mayAdministerNetwork: return Check(topic, "/dev/net/tun needs CAP_NET_ADMIN")
        case .refused(1):
            return Check(
                topic, "/dev/net/tun cannot be used",
                [
                    Finding(
                        .error,
                        "The kernel refuses an interface although CAP_NET_ADMIN is there, as it does in a container "
                            + "that was not given the device.",
                        run: "docker run --device /dev/net/tun --cap-add NET_ADMIN IMAGE")
                ])
        case .refused(let errno):
            return Check(
                topic, "/dev/net/tun cannot be used",
                [Finding(.error, "The kernel refuses an interface with error \(errno).", run: "dmesg | tail")])
        }
    }

    /// What the process may do.
    static func capabilities(_ machine: MachineSnapshot) -> Check {
        let topic = "capabilities"
        guard !machine.mayAdministerNetwork else { return Check(topic, "CAP_NET_ADMIN") }
        let fact = "no CAP_NET_ADMIN"
        if case .success = machine.manager {
            return Check(
                topic, fact,
                [
                    Finding(
                        .note, "`providerhost run` needs CAP_NET_ADMIN; this user's tunnels are run by the manager.",
                        run: "providerhost start NAME")
                ])
        }
        guard machine.user == 0 else {
            return Check(
                topic, fact,
                [
                    Finding(
                        .error, "User \(machine.user) lacks CAP_NET_ADMIN, so no interface can be made.",
                        run: "sudo providerhost doctor")
                ])
        }
        return Check(
            topic, fact,
            [
                Finding(
                    .error, "Root lacks CAP_NET_ADMIN, as in a container, so no interface can be made.",
                    run: "docker run --device /dev/net/tun --cap-add NET_ADMIN IMAGE")
            ])
    }

    /// What lets a system call carry many packets.
    static func offloads(_ machine: MachineSnapshot) -> Check {
        var present: [String] = []
        var findings: [Finding] = []
        func look(_ name: String, _ isThere: Bool, _ severity: Finding.Severity, _ consequence: String) {
            if isThere { return present.append(name) }
            findings.append(Finding(severity, "The kernel has no \(name): \(consequence).", run: "uname -r"))
        }
        if case .usable(let offloads) = machine.device {
            look(
                "TSO of TUN", offloads.contains([.tso4, .tso6]), .warning,
                "TCP inside tunnels takes more processor time")
            look(
                "USO of TUN", offloads.contains([.uso4, .uso6]), .note,
                "UDP inside tunnels takes more processor time; it came with Linux 6.2")
        }
        if let socket = machine.socketOffloads {
            look(
                "UDP GSO", socket.segmentation, .warning, "sending takes more processor time; it came with Linux 4.18")
            look("UDP GRO", socket.receive, .warning, "receiving takes more processor time; it came with Linux 5.0")
        } else {
            findings.append(Finding(.error, "No UDP socket can be opened.", run: "ip -br address"))
        }
        findings += machine.switches.map {
            Finding(.note, "\($0) switches a feature of the packet path off.", run: "unset \($0)")
        }
        return Check("offloads", present.isEmpty ? "none" : present.joined(separator: ", "), findings)
    }

    /// The wall clock, which the time stamps of handshakes and the ages of certificates and leases are made with.
    static func clock(_ machine: MachineSnapshot) -> Check {
        // 2024-01-01 and 2200-01-01: what lies outside no clock of a machine in use shows.
        let plausible: Range<Int64> = 1_704_067_200..<7_258_118_400
        // Beyond it, handshakes go on with the time before, until no peer answers.
        let longestAbsence: Int64 = 2 * 31_556_952
        let command = "timedatectl set-ntp true"
        var findings: [Finding] = []
        if !plausible.contains(machine.now) {
            findings.append(
                Finding(
                    .error,
                    "The clock shows \(machine.now) seconds since 1970, so it was never set: peers that saw a later time "
                        + "refuse handshakes, and certificates are not valid.", run: command))
        } else if let written = machine.store.lastWritten, written > machine.now + 60 {
            findings.append(
                Finding(
                    .warning,
                    "The clock went back: files in \(machine.stateFolder.path) were written \(written - machine.now) s "
                        + "from now. Handshakes go on with later time stamps than it shows.", run: command))
        } else if let written = machine.store.lastWritten, machine.now > written + longestAbsence {
            findings.append(
                Finding(
                    .warning,
                    "The clock is more than two years ahead of the last use of \(machine.stateFolder.path): "
                        + "handshakes do not believe it until no peer answers.", run: command))
        }
        return Check("clock", findings.isEmpty ? "plausible" : "\(machine.now) seconds since 1970", findings)
    }
}
