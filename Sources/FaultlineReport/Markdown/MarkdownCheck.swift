internal import FaultlineAnalysis
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
