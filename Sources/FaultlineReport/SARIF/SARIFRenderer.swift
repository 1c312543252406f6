internal import FaultlineAnalysis

/// SARIF 2.1.0 for code scanning, which shows findings at their lines.
///
/// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
struct SARIFRenderer: Renderer {
    let name = "sarif"
    let purpose = "for code scanning"

    var report: Printer<Analysis>? {
        { analysis, layout in
            let programs = analysis.profile.programs.map(\.path)
            return SARIFLog(
                results: analysis.findings.map {
                    SARIFResult(finding: $0.located(in: layout.paths), programs: programs).value
                },
                // Without a sentence there is nothing to notify of.
                notifications: [analysis.quality].compactMap(\.self).filter { !$0.explanation.isEmpty }
                    .map(SARIFNotification.value)
            ).render()
        }
    }

    var check: Printer<BudgetCheck>? {
        { check, layout in
            SARIFLog(
                results: SARIFBudget.results(of: check) + SARIFResult.results(of: check, layout.paths),
                notifications: CheckText(check).doubtSentences.map { SARIFNotification.value($0, level: "error") }
            ).render()
        }
    }
}
