import ProviderKit

/// The report as lines `key=value`, in which a tunnel tells it to whoever may ask.
extension SettingsReport {
    /// The largest report in bytes, so that it fits in a message of a provider.
    public static let sizeLimit = (1 << 20) - 64
    /// The longest text that is not a value with a form of its own: a file's name, a remark.
    private static let textLimit = 512
    private static let itemLimit = 1 << 17

    /// The lines, each with its end; accepted routes and values that do not fit are counted and left out.
    public var text: String {
        var text = heading.joined()
        var dropped = leftOut
        // What was refused or changed is what somebody asks about.
        let decisions = offer?.decisions ?? []
        let ranked = decisions.filter { $0.reason.effect != .accepted } + decisions.filter { $0.reason == .accepted }
        for line in ranked.map(Self.line) + values.map(Self.line) {
            if text.utf8.count + line.utf8.count > Self.sizeLimit - 64 { dropped += 1 } else { text += line }
        }
        return dropped == 0 ? text : text + "left_out=\(dropped)\n"
    }

    private var heading: [String] {
        var all = ["settings_source=\(source.rawValue)\n"]
        if let file { all.append("file=\(Self.plain(file))\n") }
        all += lines.sorted { $0.key < $1.key }.map { "policy_line=\($0.key) \($0.value)\n" }
        if let gateway { all.append("gateway=\(Self.plain(gateway))\n") }
        if let serial { all.append("serial=\(serial)\n") }
        if let failure {
            all.append("failure=\(failure.serial) \(failure.status.rawValue)\n")
            all += failure.findings.map { "finding=\($0.section) \($0.index) \($0.reason.rawValue)\n" }
        }
        if let offer { all.append("offer=\(offer.serial)\n") }
        for shortfall in shortfalls {
            all.append("shortfall=\(Self.plain(shortfall.part))\n")
            all.append("cause=\(Self.plain(shortfall.cause))\n")
            all.append("remedy=\(Self.plain(shortfall.remedy))\n")
        }
        return all
    }

    private static func line(_ value: Value) -> String {
        "value=\(value.origin.rawValue) \(value.kind.rawValue) \(plain(value.text))\n"
    }

    private static func line(_ decision: Decision) -> String {
        let finding = decision.finding
        let numbers = "\(finding.section) \(finding.index) \(finding.reason.rawValue)"
        return "decision=\(numbers) \(decision.subject.wireText)\(decision.detail.map { " " + plain($0) } ?? "")\n"
    }

    /// Reads lines that ``text`` made; keys that are not known are passed over, since a later version may tell more.
    ///
    /// - Returns: nil for lines of another form, and for more than a report may have.
    public init?(text: String) {
        guard text.utf8.count <= Self.sizeLimit else { return nil }
        self.init(source: .static)
        var hasSource = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.plain(parts[1]) == parts[1], read(String(parts[0]), parts[1], &hasSource),
                values.count + (offer?.decisions.count ?? 0) <= Self.itemLimit
            else { return nil }
        }
        guard hasSource else { return nil }
    }

    private mutating func read(_ key: String, _ value: Substring, _ hasSource: inout Bool) -> Bool {
        let words = value.split(separator: " ", omittingEmptySubsequences: false)
        switch key {
        case "settings_source":
            guard let source = SettingsSource(rawValue: String(value)) else { return false }
            self.source = source
            hasSource = true
        case "file": file = String(value)
        case "gateway": gateway = String(value)
        case "serial": return UInt64(value).map { serial = $0 } != nil
        case "left_out": return Int(value).map { leftOut = $0 } != nil
        case "policy_line":
            guard words.count == 2, let number = Int(words[1]), number > 0 else { return false }
            lines[String(words[0])] = number
        case "offer": return UInt64(value).map { offer = Offer(serial: $0, decisions: []) } != nil
        case "failure":
            guard words.count == 2, let serial = UInt64(words[0]),
                let status = UInt8(words[1]).flatMap(SettingsResult.Status.init)
            else { return false }
            failure = Failure(serial: serial, status: status, findings: [])
        case "finding":
            guard failure != nil, words.count == 3, let finding = SettingsFinding(words) else { return false }
            failure?.findings.append(finding)
        case "shortfall": shortfalls.append(SettingsShortfall(part: String(value), cause: "", remedy: ""))
        case "cause": return amendShortfall { $0.cause = String(value) }
        case "remedy": return amendShortfall { $0.remedy = String(value) }
        case "decision":
            guard offer != nil, let decision = Decision(value) else { return false }
            offer?.decisions.append(decision)
        case "value":
            guard let made = Value(value) else { return false }
            values.append(made)
        default: break
        }
        return true
    }

    /// Changes the shortfall that was begun last; false if there is none.
    private mutating func amendShortfall(_ change: (inout SettingsShortfall) -> Void) -> Bool {
        guard let last = shortfalls.indices.last else { return false }
        change(&shortfalls[last])
        return true
    }

    /// Text without anything that a terminal or a reader of lines could take for more than text.
    private static func plain(_ text: some StringProtocol) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(textLimit).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator, .format, .surrogate: "?"
                    default: scalar
                    }
                }))
    }
}

extension SettingsReport.Value {
    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let origin = SettingsReport.Origin(rawValue: String(words[0])),
            let kind = SettingsReport.Kind(rawValue: String(words[1]))
        else { return nil }
        self.init(kind, String(words[2]), origin)
    }
}

extension SettingsFinding {
    fileprivate init?(_ words: some Collection<Substring>) {
        let numbers = words.compactMap { UInt16($0) }
        guard numbers.count == 3 else { return nil }
        self.init(section: numbers[0], index: numbers[1], reason: ReasonCode(rawValue: numbers[2]))
    }
}

extension Decision {
    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
        guard words.count >= 5, let finding = SettingsFinding(words.prefix(3)),
            let subject = Subject(kind: String(words[3]), String(words[4]))
        else { return nil }
        self.init(finding: finding, subject: subject, detail: words.count == 6 ? String(words[5]) : nil)
    }
}
