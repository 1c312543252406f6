internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineRules
internal import FaultlineTrace

/// A finding as a result of a SARIF log.
struct SARIFResult {
    let finding: Finding
    /// The paths of the recorded programs, for findings whose line is not known.
    let programs: [String]

    var value: JSONValue { .sorted(members) }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "ruleId": .string(finding.rule), "level": .string(finding.severity.name), "message": message,
            "rank": .number(100 * finding.share),
            // A finding keeps its name when other code changes.
            "partialFingerprints": .object([("findingSignature/v1", .string(finding.signature))]),
            "properties": .sorted([
                "saving": finding.saving.json, "confidence": .string("\(finding.confidence.level)"),
                "confidenceReason": .optional(finding.confidence.reason),
                "scopes": .array(finding.scopes.map { .string($0) }), "occurrence": finding.occurrence.json,
            ]),
        ]
        if let position = SARIFLog.positions[finding.rule] { members["ruleIndex"] = .integer(Int64(position)) }
        let place = finding.change.map(SARIFLocation.value) ?? .sorted([:])
        let locations = [SARIFLocation.hasFile(finding.change) ? place : SARIFLocation.program(programs, place)]
        members["locations"] = .array(locations.compactMap(\.self))
        let others = finding.seenAt.filter { $0.site != nil && $0.site != finding.change }
        if !others.isEmpty {
            members["relatedLocations"] = .array(others.enumerated().map { related($1, id: $0 + 1) })
        }
        return members
    }

    private var message: JSONValue {
        let sentences =
            ["\(finding.title)."] + finding.explanation.map(\.text) + [finding.fix.text]
            + finding.alternatives.map { "Or: \($0)" } + [FindingsText.saving(finding)]
            + finding.reservations.map(\.text)
        let title = [["**\(Markdown.text(finding.title)).**"]]
        return SARIFLog.message(
            Phrase.printable(sentences.filter { !$0.isEmpty }.joined(separator: " ")),
            markdown: Markdown.page(title + MarkdownFinding(finding: finding, number: 1).body))
    }

    private func related(_ sighting: Finding.Sighting, id: Int) -> JSONValue {
        guard let site = sighting.site else { return .null }
        return SARIFLocation.value(
            site,
            adding: [
                "id": .integer(Int64(id)),
                "message": SARIFLog.message("Observed here \(Phrase.count(sighting.count, "time")).", markdown: nil),
            ])
    }

    /// The findings of a check that matter for its outcome, with their suppressions.
    static func results(of check: BudgetCheck, _ sources: RepositoryPaths?) -> [JSONValue] {
        check.findings.filter { $0.state != .minor }.map { finding, state, acceptance in
            var members = SARIFResult(finding: finding.located(in: sources), programs: check.programs).members
            // An expired suppression does not suppress.
            if state == .accepted, let acceptance { members["suppressions"] = .array([suppression(acceptance)]) }
            if state == .known { members["baselineState"] = .string("unchanged") }
            return .sorted(members)
        }
    }

    private static func suppression(_ acceptance: Acceptance) -> JSONValue {
        var members: [String: JSONValue] = [
            "justification": .string(acceptance.reason), "status": .string("accepted"),
        ]
        switch acceptance.subject {
        case .finding: members["kind"] = .string("external")
        case .line(let site, _):
            members["kind"] = .string("inSource")
            members["location"] = SARIFLocation.value(site)
        }
        return .sorted(members)
    }
}

/// The limits of a budget as results of a SARIF log.
enum SARIFBudget {
    /// The rule of all results about limits.
    static let rule = "budget"

    static let descriptor = JSONValue.sorted([
        "id": .string(rule), "name": .string("Budget"), "shortDescription": SARIFLog.plain("Budget"),
        "fullDescription": SARIFLog.plain("Figures that exceed the limits of the budget."),
        "help": SARIFLog.plain("Ask less of the store, or raise the limit in the budget file of \"faultline check\"."),
        "properties": .object([("tags", .array([.string("performance")]))]),
    ])

    /// The broken limits.
    static func results(of check: BudgetCheck) -> [JSONValue] {
        check.outcomes.filter { !$0.isMet }.map { outcome in
            var members: [String: JSONValue] = [
                "ruleId": .string(rule), "level": .string("error"),
                "message": SARIFLog.message(CheckText.sentence(outcome), markdown: nil),
                "partialFingerprints": .object([
                    ("limit/v1", .string("\(outcome.limit.scope ?? "")|\(outcome.limit.measure)"))
                ]),
                "properties": .sorted([
                    "limit": .unsigned(outcome.limit.value), "figure": outcome.figure.json,
                ]),
                "locations": .array([SARIFLocation.program(check.programs, .sorted([:]))].compactMap(\.self)),
            ]
            if let position = SARIFLog.positions[rule] { members["ruleIndex"] = .integer(Int64(position)) }
            return .sorted(members)
        }
    }
}
