import OnDemand
import ProviderKit
import Testing

@Suite("Whether a connection needs the tunnel")
struct ConnectionQuestionTests {
    private static let url = "https://probe.example/"

    private func ask(_ host: String, _ rules: [OnDemandRule]?) -> ConnectionQuestion {
        let rig = OnDemandRig(rules, in: Networks.office)
        return ConnectionQuestion(about: host, rig.machine.decision)
    }

    private func isYes(_ question: ConnectionQuestion) -> Bool? {
        guard case .answer(let answer, _) = question.step else { return nil }
        return answer
    }

    private func evaluating(_ rules: EvaluateConnectionRule...) -> [OnDemandRule] {
        [Rules.rule(.evaluateConnection) { $0.connectionRules = rules }]
    }

    @Test("Rules that do not look at hosts answer for all of them")
    func otherRules() {
        #expect(isYes(ask("a.example", [Rules.connect])) == true)
        #expect(isYes(ask("a.example", [Rules.disconnect])) == false)
        #expect(isYes(ask("a.example", [Rules.ignore])) == false)
        #expect(isYes(ask("a.example", [])) == false)
        #expect(isYes(ask("a.example", nil)) == false)
        #expect(isYes(ask("a.example", evaluating())) == false)
    }

    @Test(
        "Domains match by whole labels, in any case",
        arguments: [
            ("www.example.com", true), ("example.com", true), ("WWW.Example.COM.", true),
            ("www.anotherexample.com", false), ("example.com.net", false), ("com", false), ("", false),
        ])
    func suffix(host: String, isWithin: Bool) {
        let question = ask(host, evaluating(.init(matchDomains: ["example.com"], andAction: .connectIfNeeded)))
        #expect((question.step == .resolve(host, servers: nil)) == isWithin)
        if !isWithin { #expect(isYes(question) == false) }
    }

    @Test("The first rule with the host's domain decides; one that never connects ends the question")
    func order() {
        let rules = evaluating(
            .init(matchDomains: ["public.example.com"], andAction: .neverConnect),
            .init(matchDomains: ["example.org", "example.com"], andAction: .connectIfNeeded))
        #expect(isYes(ask("a.public.example.com", rules)) == false)
        #expect(isYes(ask("a.example.com", rules)) == nil)
    }

    @Test("A name that cannot be resolved needs the tunnel; one that can does not, unless the probe fails")
    func steps() {
        var rule = EvaluateConnectionRule(matchDomains: ["example.com"], andAction: .connectIfNeeded)
        rule.useDNSServers = ["192.0.2.9"]
        var question = ask("a.example.com", evaluating(rule))
        #expect(question.step == .resolve("a.example.com", servers: ["192.0.2.9"]))
        question.take(false)
        #expect(isYes(question) == true)
        question = ask("a.example.com", evaluating(rule))
        question.take(true)
        #expect(isYes(question) == false)

        rule.probeURL = Self.url
        for isReachable in [true, false] {
            question = ask("a.example.com", evaluating(rule))
            question.take(true)
            #expect(question.step == .probe(Self.url, interface: "eth0"))
            question.take(isReachable)
            #expect(isYes(question) == !isReachable)
            let answer = question
            question.take(isReachable)
            #expect(question == answer, "an answer is the last step")
        }
    }
}
