internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The outcome of a check in Markdown: the verdict, the budgets, and the findings that fail.
struct MarkdownCheck {
    let check: BudgetCheck

    /// Returns the outcome, with a trailing line feed.
    func render() -> String {
        let title = "## Faultline check: \(check.isPassed ? "passed" : "failed")"
        return Markdown.page(
            [[title], [Markdown.text(CheckText(check).verdict)]] + budgets + findings + advice + stale)
    }

    private var budgets: [[String]] {
        let rows = check.outcomes.map { outcome in
            [
                outcome.isMet ? "ok" : "**broken**", outcome.limit.scope.map(Markdown.code) ?? "(all)",
            ] + CheckText.figures(outcome).map(Markdown.text)
        }
        guard !rows.isEmpty else { return [] }
        let means = "Figures without a scope are the means of \(Phrase.count(check.traces)) traces."
        return [
            ["### Budgets"], Markdown.table(["", "scope", "limit on", "measured", "at most"], numbers: [3, 4], rows),
            check.traces > 1 ? [means] : [],
        ] + CheckText(check).unknownScopes.map { [Markdown.text($0)] }
    }

    private var findings: [[String]] {
        let rows = check.findings.filter { $0.state != .minor }.map { finding, state, acceptance in
            [
                state.isFailing ? "**\(state.word)**" : state.word,
                "\(finding.rule) \(Markdown.text(finding.title))", Markdown.site(finding.change),
                acceptance.map(remark) ?? "",
            ]
        }
        return rows.isEmpty ? [] : [["### Findings"], Markdown.table(["", "finding", "line", "suppressed"], rows)]
    }

    /// The advice of the findings that fail, and the signatures by which a budget suppresses them.
    private var advice: [[String]] {
        let failing = check.findings.filter { $0.state.isFailing }.map(\.finding)
        return failing.enumerated().flatMap { index, finding in
            MarkdownFinding(finding: finding, number: index + 1).blocks
                + [
                    ["To suppress it, add its name to the budget, with a reason:"],
                    Markdown.fence([finding.signature], language: "text"),
                ]
        }
    }

    private var stale: [[String]] {
        let lines = check.stale.map { "- \(Markdown.code(CheckText.subject($0))): \(Markdown.text($0.reason))" }
        return lines.isEmpty
            ? [] : [["### Stale suppressions"], lines, [Markdown.text(CheckText.staleAdvice)]]
    }

    private func remark(_ acceptance: Acceptance) -> String {
        Markdown.text(acceptance.reason + (acceptance.expires.map { ", until \($0)" } ?? ""))
    }
}

/// A comparison of two profiles in Markdown: the totals, the operations that changed, and the findings.
struct MarkdownDiff {
    let diff: ProfileDiff
    private var words: DiffText { DiffText(diff) }

    /// Returns the comparison, with a trailing line feed.
    func render() -> String {
        Markdown.page(
            totals + DiffText.verdicts.flatMap { operations($0.0, $0.title) } + scopes + plans + findings
                + [[([words.same] + words.sensitivity(.max / 2)).map(Markdown.text).joined(separator: " ")]])
    }

    private var totals: [[String]] {
        let sides = words.sides.trimmingPrefix { $0 == " " }
        return [
            ["## Faultline: before and after"], sides.isEmpty ? [] : [Markdown.text(String(sides))],
            Markdown.table(
                ["", "before", "after", "change"], numbers: [1, 2], words.totalRows.map { $0.map(Markdown.text) }),
            words.pace.map { [Markdown.text($0)] } ?? [],
        ]
    }

    private func operations(_ verdict: ProfileDiff.Verdict, _ title: String) -> [[String]] {
        let all = diff.operations.filter { $0.verdict == verdict }
        guard !all.isEmpty else { return [] }
        let rows = all.prefix(DiffText.shown).compactMap { operation -> [String]? in
            guard let group = operation.group else { return nil }
            return [
                GroupText.kind(group.key), Markdown.code(GroupText.subject(group.key)),
                Markdown.text(words.changes(of: operation)), Markdown.code(words.location(of: operation)),
            ]
        }
        let rest = all.count - rows.count
        return [
            ["### \(title)"], Markdown.table(["kind", "what", "what changed", "call site"], rows),
            rest > 0 ? ["\(Phrase.count(UInt64(rest))) more."] : [],
        ]
    }

    private var scopes: [[String]] {
        let rows = words.changedScopes.map { scope in
            [Markdown.code(scope.key.name)] + scope.figures.map { Markdown.text(words.movement($0)) }
        }
        guard !rows.isEmpty else { return [] }
        return [
            ["### Scopes"],
            Markdown.table(["scope", "count", "trips", "time in the store"], numbers: [1, 2, 3], rows),
        ]
    }

    private var plans: [[String]] {
        let items = diff.plans.prefix(DiffText.shown).flatMap { change -> [String] in
            let head = "- fetch \(Markdown.code(GroupText.shape(change.shape))), \(Markdown.site(change.site))"
            return [head] + change.before.map { "  - was: \(Markdown.code(Phrase.plan($0)))" }
                + change.after.map { "  - is: \(Markdown.code(Phrase.plan($0)))" }
        }
        return items.isEmpty ? [] : [["### SQLite's plans"], items]
    }

    private var findings: [[String]] {
        let rows = diff.findings.compactMap { change -> [String]? in
            guard let finding = change.finding else { return nil }
            let state = change.state == .new ? "**new**" : change.state.rawValue
            return [
                state, words.severity(of: change), "\(finding.rule) \(Markdown.text(finding.title))",
                Markdown.site(finding.change),
            ]
        }
        return rows.isEmpty ? [] : [["### Findings"], Markdown.table(["", "severity", "finding", "line"], rows)]
    }
}

/// A rule's manual page in Markdown.
enum MarkdownRule {
    /// Returns the page, with a trailing line feed.
    static func page(of rule: RulePage) -> String {
        let sections = RuleText.sections(of: rule).flatMap { section in
            [
                ["### \(Markdown.text(section.heading))"],
                section.items.isEmpty
                    ? [Markdown.text(section.paragraph)] : section.items.map { "- " + Markdown.text($0) },
            ]
        }
        return Markdown.page([[Markdown.text(rule.purpose)]] + sections)
    }
}
