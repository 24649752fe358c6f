import Glibc
import Netlink
import ProviderKit

/// Carries plans out, and undoes what it did when a step fails.
struct PlanExecutor {
    let effects: any SettingsEffects
    /// Nil while no plan needs one.
    let resolver: (any Resolver)?
    /// Nil where there is no table to set.
    let filter: (any PacketFilter)?
    let link: Link

    /// Does every step, then `verify`; a failure of either undoes everything in reverse and is thrown.
    func run(_ plan: SettingsPlan, verify: () throws(SettingsApplyError) -> Void) throws(SettingsApplyError) {
        var undo: [SettingsPlan.Action] = []
        do throws(SettingsApplyError) {
            for step in plan.steps { try perform(step, &undo) }
            try verify()
        } catch {
            var failure = error
            for action in undo.reversed() { failure.undoFailures += attempt(action) }
            throw failure
        }
    }

    /// Does every step as far as it goes, and returns what failed.
    func runToTheEnd(_ plan: SettingsPlan) -> [String] {
        plan.steps.flatMap { attempt($0.action) }
    }

    private func perform(_ step: SettingsPlan.Step, _ undo: inout [SettingsPlan.Action]) throws(SettingsApplyError) {
        switch step.action {
        case .sysctl(let name, let from, let to):
            undo.append(.sysctl(name: name, from: to, to: from))
            do throws(NetlinkError) {
                try effects.setSysctl(name, to: to)
            } catch {
                throw SettingsApplyError(step: step.purpose, underlying: error)
            }
        case .resolver(let from, let to):
            undo.append(.resolver(from: to, to: from))
            do throws(ResolverError) {
                try resolver?.set(to, on: link)
            } catch {
                throw SettingsApplyError(step: step.purpose, reason: error.description)
            }
        case .filter(let from, let to):
            undo.append(.filter(from: to, to: from))
            do throws(FilterError) {
                try filter?.replace(from.map(\.name), with: to)
            } catch {
                throw SettingsApplyError(step: step.purpose, reason: error.cause)
            }
        case .batch(let moves):
            let requests = moves.compactMap(\.request)
            let outcomes = requests.isEmpty ? [] : effects.submit(requests)
            var answers = outcomes.makeIterator()
            var failure: NetlinkError?
            var done: [SettingsPlan.Move] = []
            for move in moves {
                let outcome = move.request == nil ? nil : answers.next() ?? nil
                // Unanswered requests may have taken effect, so they are undone like the others.
                if outcome == nil || outcome?.isUnanswered == true {
                    done.append(SettingsPlan.Move(request: move.inverse))
                }
                if let outcome, !(move.request?.isRemoval == true && outcome.kind == .notFound) {
                    failure = failure ?? outcome
                }
            }
            undo.append(.batch(done.reversed()))
            if let failure { throw SettingsApplyError(step: step.purpose, underlying: failure) }
        }
    }

    /// Does an action and returns what failed; a goal that is reached already is no failure.
    private func attempt(_ action: SettingsPlan.Action) -> [String] {
        switch action {
        case .sysctl(let name, _, let to):
            do throws(NetlinkError) {
                // A setting that is as wanted, or is gone with its interface, needs no write.
                guard let current = effects.sysctl(name), current != to else { return [] }
                try effects.setSysctl(name, to: to)
                return []
            } catch {
                return [error.description]
            }
        case .resolver(_, let to):
            do throws(ResolverError) {
                try resolver?.set(to, on: link)
                return []
            } catch {
                return [error.description]
            }
        case .filter(let from, let to):
            do throws(FilterError) {
                try filter?.replace(from.map(\.name), with: to)
                return []
            } catch {
                return [error.cause]
            }
        case .batch(let moves):
            let requests = moves.compactMap(\.request)
            guard !requests.isEmpty else { return [] }
            return zip(requests, effects.submit(requests)).compactMap { request, outcome in
                guard let outcome else { return nil }
                return request.isSettled(despite: outcome) ? nil : outcome.description
            }
        }
    }
}

extension NetlinkError {
    /// Whether the kernel may have done what was asked although this error came back.
    var isUnanswered: Bool { kind == .timedOut || code == ENOBUFS }
}

extension Request {
    /// Whether a failure while cleaning up means that there is nothing left to do.
    func isSettled(despite error: NetlinkError) -> Bool {
        switch error.kind {
        // What was on an interface went with it.
        case .noSuchInterface: true
        case .notFound: isRemoval
        case .alreadyExists: if case .addRule = self { true } else { false }
        case .notPermitted, .ipv6Unavailable, .interrupted, .timedOut, .other: false
        }
    }

    /// Whether the request takes something away.
    var isRemoval: Bool {
        switch self {
        case .deleteLink, .deleteAddress, .deleteRoute, .deleteRule: true
        case .setLink, .addAddress, .addRoute, .replaceRoute, .addRule: false
        }
    }
}
