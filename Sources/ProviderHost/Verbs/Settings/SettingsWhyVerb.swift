internal import HostRuntime
internal import ProviderKit
internal import SettingsPush
internal import WireGuard

/// `settings why`: who offered a network or a name, what decided about it, and what would allow it.
enum SettingsWhyVerb {
    static let command = Command(
        name: "settings why", summary: "Explain why a network or a name is, or is not, reached through a tunnel.",
        positionals: [.init(name: "PREFIX|NAME")], options: [.tunnel, .json],
        discussion: """
            PREFIX is an address or a network such as 10.0.0.0/8, NAME a domain or a host's name in one. The
            answer says who offered it, which rule decided with its reason, and which line of the profile
            would allow it.
            """
    ) { arguments, console in
        let question = try Question(arguments.positionals[0])
        let answers = try TunnelSettings.all(named: arguments.values[Command.Option.tunnel.name])
            .map { Answer(name: $0.name, explanations: question.answer(by: SettingsExplainer($0.report))) }
        if arguments.wantsJSON {
            console.print(json: SettingsListing(tunnels: answers))
        } else {
            for answer in answers {
                for explanation in answer.explanations { console.print("\(answer.name): \(explanation.description)") }
            }
        }
        return .success
    }

    /// What was asked about.
    enum Question {
        case network(IPPrefix)
        case name(DomainName)

        /// Reads the argument.
        ///
        /// - Throws: ``UsageError`` for what is neither.
        init(_ text: String) throws(UsageError) {
            if let prefix = IPPrefix(text) {
                self = .network(prefix)
            } else if let name = DomainName(text) {
                self = .name(name)
            } else {
                throw UsageError(
                    .invalidValue, cause: "`\(text.printable)` is neither a network nor a name.",
                    remedy: "Give an address, a network such as 10.0.0.0/8, or a domain name.")
            }
        }

        func answer(by explainer: SettingsExplainer) -> [Explanation] {
            switch self {
            case .network(let prefix): explainer.why(prefix)
            case .name(let name): explainer.why(name)
            }
        }
    }

    /// The answer of one tunnel.
    private struct Answer: Encodable {
        let name: String
        let explanations: [Explanation]

        private enum CodingKeys: String, CodingKey { case name, answers }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(explanations.map(ExplanationReport.init), forKey: .answers)
        }
    }
}
