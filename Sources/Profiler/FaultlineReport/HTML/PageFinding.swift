internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineRules
internal import FaultlineTrace

/// Findings for a page: as in the JSON report, with their sentences in pieces that keep their meaning.
enum PageFinding {
    /// - Parameters:
    ///   - measured: The measurement of the finding's change, or `nil` if it was not tried.
    ///   - statesSaving: Whether to state the predicted saving, which a store at rest does not have.
    static func value(
        _ finding: Finding, measured: MeasuredSavings.Result? = nil, statesSaving: Bool = true
    ) -> JSONValue {
        .object([
            ("finding", finding.json), ("language", .string(finding.codeLanguage)),
            ("title", pieces(finding.title)), ("explanation", .array(finding.explanation.map(pieces))),
            ("fix", pieces(finding.fix)), ("alternatives", .array(finding.alternatives.map(pieces))),
            ("reservations", .array(finding.reservations.map(pieces))),
            ("saving", statesSaving ? .string(FindingsText.saving(finding)) : .null),
            ("measured", measured?.json ?? .null),
        ])
    }

    /// A sentence as a list: plain text as a string, and code, names, call sites and quantities as pairs of kind and text.
    static func pieces(_ wording: Wording) -> JSONValue {
        .array(
            wording.pieces.map { piece in
                switch piece {
                case .text(let text): .string(text)
                case .code(let name, _): pair("code", name)
                case .entity(let name), .property(let name, _): pair("name", name)
                case .site(let site): pair("site", site.description)
                case .quantity(let quantity): pair("quantity", quantity.text)
                }
            })
    }

    private static func pair(_ kind: String, _ text: String) -> JSONValue { .array([.string(kind), .string(text)]) }

    /// The manual pages of the rules of findings, by number.
    static func rules(of findings: some Sequence<Finding>) -> JSONValue {
        .array(Set(findings.map(\.rule)).sorted().compactMap(rule))
    }

    /// A rule's manual page, or `nil` if there is no such rule.
    private static func rule(_ id: String) -> JSONValue? {
        guard let page = RulePage.all.first(where: { $0.id == id }) else { return nil }
        return .object([
            ("id", .string(page.id)), ("name", .string(page.name)), ("purpose", .string(page.purpose)),
            ("trigger", .string(page.manual.trigger)), ("evidence", .string(page.manual.evidence)),
            ("fix", .string(page.manual.fix)), ("saving", .string(page.manual.saving)),
            ("guards", .array(page.manual.guards.map { .string($0) })),
        ])
    }
}
