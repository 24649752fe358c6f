import Glibc

/// The measurements of a victim, one after the other.
struct AttackSession {
    /// What must hold, or the suite fails.
    private enum Bar {
        /// What a bystander with a pace keeps of its throughput.
        static let throughput = 0.9
        static let newcomerMilliseconds = 2000.0
        static let memoryMegabytes = 8.0
    }

    private let plan: AttackPlan
    private let lab: AttackLab
    private let subject = "victim"

    init(_ plan: AttackPlan, _ lab: AttackLab) {
        self.plan = plan
        self.lab = lab
    }

    func run(into report: inout Report) throws {
        let memory = try lab.victimMemory()
        var peak = memory
        for attack in plan.attacks {
            CommandLineTool.say("\(attack.rawValue): \(attack.summary)")
            if attack.isExact { try count(attack, into: &report) }
            if attack.isLasting {
                try measureBystander(attack, into: &report)
                try measureFlood(attack, &peak, into: &report)
            }
        }
        if plan.attacks.contains(.strangers) { try measureCookies(into: &report) }
        peak = max(peak, try lab.victimMemory())
        report.add(memory, "memory before", unit: "MB", subject: subject)
        report.add(peak, "memory, the most", unit: "MB", subject: subject)
        check(peak - memory <= Bar.memoryMegabytes, "the victim grew by \(figure(peak - memory)) MB", &report)
    }

    /// Every message has the fate that is known before.
    private func count(_ attack: Attack, into report: inout Report) throws {
        let before = try lab.drops()
        let blast = try lab.finish(lab.blast("exact", attack.rawValue, "\(plan.count)"))
        let drops = try settledDrops(since: before) { $0 == blast.drops }
        let wrong = Set(drops.keys).union(blast.drops.keys).map {
            abs(drops[$0, default: 0] - blast.drops[$0, default: 0])
        }
        report.add(Double(blast.sent), "\(attack.rawValue), one by one", unit: "sent", subject: subject)
        report.add(Double(wrong.reduce(0, +)), "\(attack.rawValue), one by one", unit: "miscounted", subject: subject)
        add(drops, "\(attack.rawValue), one by one", into: &report)
        check(drops == blast.drops, "\(attack.rawValue): dropped \(drops), not \(blast.drops)", &report)
    }

    /// The bystander's throughput with a flood at the victim, with one beside it, and without; then at half of its pace.
    private func measureBystander(_ attack: Attack, into report: inout Report) throws {
        let name = "bystander, \(attack.rawValue)"
        for _ in 0..<plan.runs {
            try measureAttacked(name, attack, subject, into: &report)
            try lab.withSink { try measureAttacked(name, attack, "sink", at: $0, into: &report) }
            try measureQuiet(name, into: &report)
        }
        // What it has to itself leaves the machine no room for a flood; half of it does.
        let paced = "bystander at half that pace, \(attack.rawValue)"
        let pace = report.median(name, unit: "Gb/s", subject: "quiet").map { $0 / 2 }
        for _ in 0..<plan.runs {
            try measureAttacked(paced, attack, subject, pace: pace, into: &report)
            try measureQuiet(paced, pace: pace, into: &report)
        }
        guard !attack.makesVictimAnswer, let attacked = report.median(paced, unit: "Gb/s", subject: subject),
            let alone = report.median(paced, unit: "Gb/s", subject: "quiet")
        else { return }
        check(
            attacked >= alone * Bar.throughput,
            "\(attack.rawValue): the bystander at half pace keeps \(figure(attacked / alone)) of its throughput",
            &report)
    }

    private func measureQuiet(_ name: String, pace: Double? = nil, into report: inout Report) throws {
        report.add(
            try lab.bystandersThroughput(seconds: plan.seconds, pace: pace), name, unit: "Gb/s", subject: "quiet")
    }

    private func measureAttacked(
        _ name: String, _ attack: Attack, _ subject: String, at target: String? = nil, pace: Double? = nil,
        into report: inout Report
    ) throws {
        let attacker = try startFlood(attack, seconds: plan.seconds + 2, at: target)
        sleep(1)
        report.add(
            try lab.bystandersThroughput(seconds: plan.seconds, pace: pace), name, unit: "Gb/s", subject: subject)
        let blast = try lab.finish(attacker)
        report.add(Double(blast.sent) / blast.seconds, "\(name): flood", unit: "1/s", subject: subject, isDetail: true)
    }

    private func startFlood(_ attack: Attack, seconds: Int, at target: String? = nil) throws -> Child {
        guard let target else { return try lab.blast("flood", attack.rawValue, "\(seconds)", "\(plan.rate)") }
        return try lab.blast("flood", attack.rawValue, "\(seconds)", "\(plan.rate)", target)
    }

    /// A flood without other traffic: every datagram is counted, and during one of strangers new peers come.
    private func measureFlood(_ attack: Attack, _ peak: inout Double, into report: inout Report) throws {
        let name = "flood, \(attack.rawValue)"
        let before = try lab.drops()
        let newcomers = attack == .strangers ? AttackLab.newcomers.count : 0
        let attacker = try startFlood(attack, seconds: plan.seconds + 3 * newcomers)
        // By then every address of the strangers has been seen.
        sleep(newcomers > 0 ? 4 : 2)
        for number in AttackLab.newcomers.prefix(newcomers) {
            let taken = try lab.connect(newcomer: number)
            report.add(taken, "a new peer's first answer", unit: "ms", subject: subject)
            check(
                taken <= Bar.newcomerMilliseconds, "a new peer waited for \(figure(taken)) ms", &report)
        }
        peak = max(peak, try lab.victimMemory())
        let blast = try lab.finish(attacker)
        try lab.ping()
        let drops = try settledDrops(since: before) { $0.values.reduce(0, +) >= blast.sent }
        let missing = blast.sent - drops.values.reduce(0, +)
        report.add(Double(blast.sent) / blast.seconds, name, unit: "1/s", subject: subject)
        report.add(Double(missing), name, unit: "unaccounted", subject: subject)
        add(drops, name, into: &report)
        // New peers send a few messages more, which may be dropped too.
        check(
            missing <= 0 && missing >= -20 * newcomers, "\(attack.rawValue): \(missing) are not accounted for", &report)
    }

    /// How many of a source's messages are looked at when it shows a cookie.
    private func measureCookies(into report: inout Report) throws {
        let before = try lab.drops()
        let blast = try lab.finish(lab.blast("cookies", "\(plan.seconds)"))
        let drops = try settledDrops(since: before) { $0["rate_limited", default: 0] > 0 }
        let passed = Double(blast.sent - drops["rate_limited", default: 0])
        let allowed = 20 * blast.seconds + 5
        report.add(Double(blast.sent) / blast.seconds, "with a cookie, sent", unit: "1/s", subject: subject)
        report.add(passed / blast.seconds, "with a cookie, passed", unit: "1/s", subject: subject)
        add(drops, "with a cookie", into: &report)
        check(
            passed > 0 && passed <= allowed + 3, "\(passed) messages passed, not \(figure(allowed)) at the most",
            &report)
    }

    /// What was dropped since, once it is what is waited for, or after three seconds.
    private func settledDrops(
        since before: [String: Int], _ isSettled: ([String: Int]) -> Bool
    ) throws -> [String: Int] {
        var drops: [String: Int] = [:]
        for _ in 0..<30 {
            drops = try lab.drops().reduce(into: [:]) { result, entry in
                let count = entry.value - before[entry.key, default: 0]
                if count != 0 { result[entry.key] = count }
            }
            if isSettled(drops) { break }
            usleep(100_000)
        }
        return drops
    }

    private func add(_ drops: [String: Int], _ name: String, into report: inout Report) {
        for (reason, count) in drops.sorted(by: { $0.key < $1.key }) {
            report.add(Double(count), "\(name): \(reason)", unit: "dropped", subject: subject, isDetail: true)
        }
    }

    private func check(_ holds: Bool, _ failure: @autoclosure () -> String, _ report: inout Report) {
        if !holds { report.failures.append(failure()) }
    }
}
