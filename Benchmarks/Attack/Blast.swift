import Foundation
import Glibc
import WireGuard

/// The attacker's process, the hidden verb `blast`; CONFIG is a wg-quick file of a peer of the victim.
///
///     blast CONFIG exact ATTACK COUNT                      messages with a fate that is known, one burst after the other
///     blast CONFIG flood ATTACK SECONDS RATE [ADDRESS:PORT]     RATE a second (0: what goes), perhaps beside the victim
///     blast CONFIG cookies SECONDS                         1,000 a second that show a cookie, from one address
enum Blast {
    static let verb = "blast"

    static func run(_ arguments: [String]) throws -> Int32 {
        guard arguments.count >= 3 else { throw wrongArguments }
        Interruption.install()
        let adversary = try Adversary(TunnelEndpoint.configuration(at: arguments[0]))
        let rest = Array(arguments.dropFirst(2))
        let start = now()
        var report =
            switch arguments[1] {
            case "exact": try exact(adversary, rest)
            case "flood": try flood(adversary, rest)
            case "cookies": try cookies(adversary, rest)
            default: throw wrongArguments
            }
        if report.seconds == 0 { report.seconds = Double(now() - start) / 1e9 }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
        return 0
    }

    private static var wrongArguments: BenchmarkError {
        .usage(
            "blast has other arguments",
            advice: "blast CONFIG exact ATTACK COUNT | flood ATTACK SECONDS RATE [ADDRESS:PORT] | cookies SECONDS")
    }

    /// The victim is asked for a session after each burst, so that it never has more of them at once.
    private static func exact(_ adversary: Adversary, _ arguments: [String]) throws -> BlastReport {
        guard arguments.count == 2, let attack = Attack(rawValue: arguments[0]), attack.isExact,
            let count = Int(arguments[1])
        else { throw wrongArguments }
        var arsenal = try Arsenal(attack, of: adversary)
        var report = BlastReport()
        var left = count
        var shots = arsenal.preparation
        while true {
            for shot in shots { report.add(shot) }
            try adversary.send(shots.map(\.bytes))
            _ = try adversary.connect()
            guard left > 0 else { break }
            try Interruption.check()
            shots = (0..<min(left, attack.burst)).map { _ in arsenal.next() }
            left -= shots.count
        }
        report.acceptedBytes += adversary.handshakes * MessageSize.initiation
        return report
    }

    private static func flood(_ adversary: Adversary, _ arguments: [String]) throws -> BlastReport {
        guard arguments.count == 3 || arguments.count == 4, let attack = Attack(rawValue: arguments[0]),
            attack.isLasting, let seconds = Double(arguments[1]), let rate = Double(arguments[2])
        else { throw wrongArguments }
        var target = adversary.target
        if arguments.count == 4 {
            guard let other = Endpoint(arguments[3]) else { throw wrongArguments }
            target = other
        }
        var messages: [[UInt8]]
        if attack == .strangers {
            messages = [try adversary.strangersInitiation(to: adversary.victim)]
        } else {
            var arsenal = try Arsenal(attack, of: adversary)
            try adversary.send(arsenal.preparation.map(\.bytes))
            messages = (0..<512).map { _ in arsenal.next().bytes }
        }
        let load = try Load(messages, to: target, from: attack.sources)
        var report = BlastReport()
        let start = now()
        let end = start + UInt64(seconds * 1e9)
        var time = start
        while time < end, !Interruption.isRequested {
            if rate > 0, Double(report.sent) > Double(time - start) / 1e9 * rate {
                usleep(100)
            } else {
                report.sent += try adversary.blaster.send(load, from: report.sent, atMost: Blaster.batch)
            }
            time = now()
        }
        report.seconds = Double(time - start) / 1e9
        return report
    }

    /// Strangers keep the victim under load: ten times a second as many at once as it takes for that.
    private static func cookies(_ adversary: Adversary, _ arguments: [String]) throws -> BlastReport {
        guard arguments.count == 1, let seconds = Double(arguments[0]) else { throw wrongArguments }
        let stranger = try adversary.strangersInitiation(to: adversary.victim)
        let strangers = Array(repeating: stranger, count: 64)
        var cookied: [UInt8]?
        for _ in 0..<10 where cookied == nil {
            try adversary.send(strangers + strangers)
            cookied = try adversary.initiateWithCookie()
        }
        guard let message = cookied else {
            throw BenchmarkError("the victim gives no cookie", advice: "It must be under load by 128 initiations.")
        }
        let messages = Array(repeating: message, count: 100)
        var report = BlastReport()
        let start = now()
        while Double(now() - start) / 1e9 < seconds, !Interruption.isRequested {
            try adversary.send(strangers)
            try adversary.send(messages)
            report.sent += messages.count
            usleep(100_000)
        }
        report.seconds = Double(now() - start) / 1e9
        return report
    }
}
