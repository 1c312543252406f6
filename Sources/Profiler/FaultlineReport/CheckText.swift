internal import FaultlineFindings
package import FaultlineRules
internal import FaultlineTrace

/// The outcome of a check as text for a terminal or a build log.
package struct CheckText: Sendable {
    let check: BudgetCheck
    /// The maximum number of the trace's scopes that are named where a limit is on another one.
    private static let shownScopes = 12

    package init(_ check: BudgetCheck) {
        self.check = check
    }

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameter width: The preferred number of characters in a line. Signatures of findings are never cut, so they
    ///   can be copied.
    package func render(width: Int = 100, colour: Bool = false) -> String {
        let ink = Ink(isColoured: colour)
        let parts = [limits(ink, width), findings(ink, width), stale(ink, width), [summary(ink)]]
        return TextPage.joined(parts, ink)
    }

    private func limits(_ ink: Ink, _ width: Int) -> [String] {
        guard !check.outcomes.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "", alignment: .left, losing: .middle),
            .init(title: "", alignment: .left), .init(title: "measured", alignment: .right),
            .init(title: "at most", alignment: .right),
        ])
        for outcome in check.outcomes {
            let limit = outcome.limit
            table.add([outcome.isMet ? "ok" : "broken", limit.scope ?? "(all)"] + Self.figures(outcome))
        }
        let lines = table.lines(width: width - 2)
        let means = check.traces > 1 ? "  (for all: the mean of \(Phrase.count(check.traces)) traces)" : ""
        let rows = zip(check.outcomes, lines.dropFirst()).map { "  " + ($0.isMet ? $1 : ink(.red, $1)) }
        let remarks = unknownScopes.flatMap { Phrase.wrapped($0, width: width - 2) }.map { "  " + $0 }
        return [ink(.bold, "Budgets") + ink(.dim, means), "  " + ink(.dim, lines[0])] + rows + remarks
    }

    /// Sentences about limits on scopes that the trace does not have.
    var unknownScopes: [String] {
        check.outcomes.compactMap(\.limit.scope).uniqued.filter { !check.scopes.contains($0) }.map {
            "The trace has no scope \"\($0)\"; it has \(scopes)."
        }
    }

    /// The trace's scopes: `"list" and "item"`.
    private var scopes: String {
        var names = check.scopes.prefix(Self.shownScopes).map { "\"\($0)\"" }
        let others = check.scopes.count - names.count
        if others > 0 { names.append("\(Phrase.count(others)) more") }
        guard let last = names.popLast() else { return "no scopes" }
        return names.isEmpty ? last : "\(names.joined(separator: ", ")) and \(last)"
    }

    private func findings(_ ink: Ink, _ width: Int) -> [String] {
        let shown = check.findings.filter { $0.state != .minor }
        guard !shown.isEmpty else { return [] }
        var text = [ink(.bold, "Findings")]
        for (finding, state, acceptance) in shown {
            let location = finding.change?.description ?? "call site unknown"
            let head = TextTable.shortened("\(finding.rule) \(finding.title)", to: max(20, width - location.count - 16))
            let gap = String(repeating: " ", count: max(2, width - 14 - head.count - location.count))
            let word = state.word + String(repeating: " ", count: 12 - state.word.count)
            text.append("  \(ink(state.isFailing ? .red : .dim, word))\(head)\(gap)\(ink(.bold, location))")
            if state.isFailing { text.append("              \(ink(.dim, finding.signature))") }
            if let acceptance {
                let verb = state == .expired ? "was suppressed" : "suppressed"
                let end = acceptance.expires.map { " until \($0)" } ?? ""
                text.append("              \(ink(.dim, "\(verb)\(end): \(Phrase.printable(acceptance.reason))"))")
            }
        }
        return text
    }

    private func stale(_ ink: Ink, _ width: Int) -> [String] {
        guard !check.stale.isEmpty else { return [] }
        return [ink(.bold, "Stale suppressions")]
            + check.stale.map { "  \(Phrase.printable(Self.subject($0)))  \(ink(.dim, Phrase.printable($0.reason)))" }
            + Phrase.wrapped(Self.staleAdvice, width: width - 2).map { "  " + $0 }
    }

    /// The advice about stale suppressions.
    static let staleAdvice =
        "No finding matches. Remove these suppressions, or correct them. A comment belongs on the finding's line or on the "
        + "line above. In a budget, copy the name that is printed below a finding: a rule's number alone, such as R02, is "
        + "never a name."

    private func summary(_ ink: Ink) -> String { ink(check.isPassed ? .green : .red, verdict) }

    /// A sentence that states whether the check passed and, if it did not, why.
    var verdict: String {
        var failures: [String] = []
        let count = { (number: Int, noun: String) in
            if number > 0 { failures.append(Phrase.count(UInt64(number), noun)) }
        }
        count(check.outcomes.count { !$0.isMet }, "broken budget")
        count(check.findings.count { $0.state == .fails }, "finding")
        count(check.findings.count { $0.state == .expired }, "expired suppression")
        failures += doubts
        guard failures.isEmpty else { return "Failed: \(failures.joined(separator: ", "))." }
        let met = check.outcomes.count
        let limits = met == 0 ? "no limits were set" : "\(Phrase.count(UInt64(met), "limit")) kept"
        return "Passed: \(limits), no new finding."
    }

    /// The reasons why the trace proves nothing, or not enough to pass.
    var doubts: [String] {
        var doubts: [String] = []
        if check.isEmpty { doubts.append("no event was recorded, so nothing was checked") }
        if check.missing > 0 {
            doubts.append(
                "\(Phrase.count(check.missing, "event or end", plural: "events or ends")) missing from the trace, "
                    + "without which limits cannot be verified")
        }
        return doubts
    }

    /// The reasons as sentences.
    var doubtSentences: [String] { doubts.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." } }

    /// A broken limit as a sentence.
    ///
    ///     The scope "list" exceeds its limit on trips, most per run: 12, at most 3.
    static func sentence(_ outcome: BudgetCheck.Outcome) -> String {
        let figures = figures(outcome)
        let subject = outcome.limit.scope.map { "scope \"\($0)\"" } ?? "whole trace"
        guard outcome.figure != nil else {
            return "The limit of the \(subject) on \(figures[0]) cannot be checked: \(figures[1])."
        }
        return "The \(subject) exceeds its limit on \(figures[0]): \(figures[1]), at most \(figures[2])."
    }

    /// The limited measure, the measured figure and the limit.
    static func figures(_ outcome: BudgetCheck.Outcome) -> [String] {
        let limit = outcome.limit
        return [
            label(limit),
            outcome.figure.map { words($0, limit.unit) } ?? (limit.scope == nil ? "not recorded" : "not seen"),
            words(Double(limit.value), limit.unit),
        ]
    }

    static func subject(_ acceptance: Acceptance) -> String {
        switch acceptance.subject {
        case .finding(let signature): signature
        case .line(let site, let rule): "\(rule) at \(site)"
        }
    }

    private static func label(_ limit: Budget.Limit) -> String {
        guard limit.scope != nil else { return limit.measure }
        return limit.measure == "time" ? "time, 95th percentile" : "\(limit.measure), most per run"
    }

    private static func words(_ value: Double, _ unit: Budget.Limit.Unit) -> String {
        switch unit {
        case .time: Phrase.duration(value)
        case .size: Phrase.size(value)
        case .count: Phrase.decimal(value, places: value == value.rounded() ? 0 : 1)
        }
    }
}

extension BudgetCheck.State {
    /// The state as a report shows it.
    var word: String { self == .accepted ? "suppressed" : rawValue }
}

extension BudgetCheck: Document {
    package func text(_ layout: Layout) -> String {
        CheckText(self).render(width: layout.width, colour: layout.isColoured)
    }
}
