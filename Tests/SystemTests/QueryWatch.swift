import Testing

/// Watches, at the left machine, which names are asked for beside the tunnel and which inside of it.
struct QueryWatch {
    /// What passes the cable in clear text.
    let cable: Child
    /// What comes out of the tunnel.
    let inside: Child

    /// Watches from now on.
    init(_ lab: Lab, inside interface: String) throws {
        (cable, inside) = try (Self.start(lab, "cable"), Self.start(lab, interface))
    }

    private static func start(_ lab: Lab, _ interface: String) throws -> Child {
        let child = try lab.start(
            on: lab.left, ["tcpdump", "-l", "-n", "-i", interface, "port 53 or port 5355 or port 5353"])
        try child.waitFor("listening on")
        return child
    }

    /// Asks for names and requires that each was asked for where it belongs, and nowhere else.
    ///
    /// - Parameters:
    ///   - room: Where a program asks for them.
    ///   - through: The names whose questions belong into the tunnel.
    ///   - beside: The names whose questions belong to the resolver on the cable.
    /// - Throws: That a name was not asked for where it belongs.
    func expect(in room: Room, through: [String], beside: [String]) throws {
        for name in through + beside { try room.ask(name) }
        for name in through { try inside.waitFor(Self.question(name)) }
        for name in beside { try cable.waitFor(Self.question(name)) }
        for name in through { #expect(!asked(name, at: cable), "\(name) left in clear text: \(cable.output)") }
        for name in beside { #expect(!asked(name, at: inside), "\(name) went into the tunnel: \(inside.output)") }
    }

    /// Whether this very name was asked for.
    func asked(_ name: String, at watcher: Child) -> Bool {
        watcher.output.lowercased().contains(Self.question(name))
    }

    /// The question as tcpdump writes it, with the end of the name: `A? corp.example. `.
    private static func question(_ name: String) -> String { "? \(name). " }
}
