internal import FaultlineAnalysis

/// Markdown for comments on pull requests.
struct MarkdownRenderer: Renderer {
    let name = "markdown"
    let purpose = "for pull requests"

    var report: Printer<Analysis>? {
        { MarkdownReport(analysis: $0, showsAll: $1.showsAll, grouped: $1.grouped).render() }
    }
    var check: Printer<BudgetCheck>? { { check, _ in MarkdownCheck(check: check).render() } }
    var diff: Printer<ProfileDiff>? { { diff, _ in MarkdownDiff(diff: diff).render() } }
}
