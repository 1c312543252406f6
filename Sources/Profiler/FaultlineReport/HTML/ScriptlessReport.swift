internal import FaultlineFindings
internal import FaultlineRules
internal import FaultlineTrace

/// The findings of a report as plain HTML, for browsers without JavaScript, as in the preview of a mail or among the artifacts of a
/// build server.
struct ScriptlessReport {
    let analysis: Analysis

    /// A `noscript` element.
    var element: String {
        let profile = analysis.profile
        let name = TextReport.programs(profile).joined(separator: ", ")
        var html = Self.tag("h1", "Faultline \(name)") + Self.tag("p", TextReport.facts(profile))
        for line in TextReport.totals(analysis) { html += Self.tag("p", line) }
        html += Self.tag("p", "The timeline and the events need JavaScript.")
        let findings = analysis.findings.map { "<li>\n\(body(of: $0))</li>\n" }
        html += Self.tag("h2", findings.isEmpty ? "No rule found anything to change." : "What to change")
        if !findings.isEmpty { html += "<ol>\n\(findings.joined())</ol>\n" }
        return "<noscript>\n\(html)</noscript>\n"
    }

    private func body(of finding: Finding) -> String {
        let place = finding.change?.description ?? "call site unknown"
        let code = finding.code.joined(separator: "\n")
        return Self.tag("h3", "\(finding.title).")
            + Self.tag("p", "\(finding.severity.name), \(finding.rule) \(finding.ruleName), at \(place)")
            + Self.tag("p", finding.explanation.map(\.text).joined(separator: " "))
            + (code.isEmpty ? Self.tag("p", finding.fix.text) : Self.tag("pre", code))
            + Self.tag("p", FindingsText.saving(finding))
    }

    private static func tag(_ name: String, _ text: String) -> String {
        "<\(name)>\(PageDocument.escaped(text))</\(name)>\n"
    }
}
