internal import FaultlineAnalysis
internal import FaultlineTrace

/// Workflow commands of GitHub Actions, which become annotations at the lines of a pull request.
///
///     ::warning file=App/List.swift,line=42,title=R01 N+1 faults::Prefetch "list" with the fetch of Item. …
///
/// GitHub shows the first ten of each level in a step. Findings come in order of severity and saving.
/// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
struct GitHubRenderer: Renderer {
    let name = "github"
    let purpose = "for annotations in GitHub Actions"

    var report: Printer<Analysis>? {
        { analysis, layout in
            let limits = analysis.quality?.explanation.map(\.text) ?? []
            let facts = TextReport.facts(analysis.profile) + "."
            let summary = WorkflowCommand(
                level: limits.isEmpty ? .notice : .warning, title: "Faultline",
                message: ([facts] + limits).joined(separator: " "))
            let findings = analysis.findings.map { WorkflowCommand($0.located(in: layout.paths)) }
            return Self.page([summary] + findings)
        }
    }

    var check: Printer<BudgetCheck>? {
        { check, layout in
            let text = CheckText(check)
            let verdict = WorkflowCommand(
                level: check.isPassed ? .notice : .error, title: "Faultline check", message: text.verdict)
            let limits = check.outcomes.filter { !$0.isMet }.map {
                WorkflowCommand(level: .error, title: "Budget", message: CheckText.sentence($0))
            }
            let findings = check.findings.filter { $0.state.isFailing }.map { finding, _, _ in
                WorkflowCommand(
                    finding.located(in: layout.paths),
                    adding: ["To suppress it, add its name to the budget: \(finding.signature)"])
            }
            let stale = check.stale.map { acceptance in
                var command = WorkflowCommand(
                    level: .warning, title: "Stale suppression",
                    message: "No finding matches \(CheckText.subject(acceptance)) (\(acceptance.reason)).")
                if case .line(let site, _) = acceptance.subject { command.site = site }
                return command
            }
            return Self.page([verdict] + limits + findings + stale)
        }
    }

    private static func page(_ commands: [WorkflowCommand]) -> String { commands.map { $0.line + "\n" }.joined() }
}
