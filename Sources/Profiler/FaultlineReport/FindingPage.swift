package import FaultlineFindings
internal import FaultlineRules

/// Everything known about one finding of a trace: its rule in short, the finding in full, the events that it rests on,
/// and the lines of the program that it names.
package struct FindingPage: Sendable {
    /// The events that a finding rests on.
    package struct Events: Sendable {
        /// The number of all of them.
        package var count: UInt64
        /// The lines of the slowest, without their title.
        package var slowest: [String]

        package init(count: UInt64, slowest: [String]) {
            (self.count, self.slowest) = (count, slowest)
        }
    }

    /// The findings of the trace, in the order of its report.
    private let findings: [Finding]
    /// The finding's number in the report.
    private let number: Int
    /// `nil` for a profile, which has no events.
    private let events: Events?
    private let excerpts: [SourceExcerpt]
    /// Sentences about the sources.
    private let remarks: [String]
    private let next: NextStep?

    /// - Parameters:
    ///   - number: The finding's number in the report, from 1 on.
    ///   - events: The events that the finding rests on, or `nil` for a profile.
    ///   - excerpts: The lines around the places that the finding names.
    ///   - remarks: Sentences about sources that cannot be shown or may have changed.
    ///   - next: The step that the page ends with.
    package init(
        _ findings: [Finding], number: Int, events: Events?, excerpts: [SourceExcerpt], remarks: [String] = [],
        next: NextStep? = nil
    ) {
        (self.findings, self.number, self.events) = (findings, number, events)
        (self.excerpts, self.remarks, self.next) = (excerpts, remarks, next)
    }

    /// Returns the page, with a trailing line feed.
    package func render(width: Int = 100, colour: Bool = false) -> String {
        let width = TextPage.width(width)
        let ink = Ink(isColoured: colour)
        let finding = findings[number - 1]
        let text = FindingsText(findings: findings, showsAll: true).full(finding, number: number, ink, width)
        let sections = [
            rule(of: finding, ink, width),
            [ink(.bold, "Finding \(number) of \(findings.count)")] + text,
            eventLines(ink, width), sourceLines(ink, width), next.map { [ink(.dim, $0.line)] } ?? [],
        ]
        return TextPage.joined(sections, ink)
    }

    private func rule(of finding: Finding, _ ink: Ink, _ width: Int) -> [String] {
        guard let page = RulePage.all.first(where: { $0.id == finding.rule }) else { return [] }
        let more = "\"faultline explain \(page.id)\" describes the saving, the exceptions and the thresholds."
        let paragraphs = [page.purpose, page.manual.trigger].map { Phrase.wrapped($0, width: width - 2) }
        return [ink(.bold, "\(page.id) \(page.name)")] + paragraphs.joined().map { "  \($0)" }
            + Phrase.wrapped(more, width: width - 2).map { "  " + ink(.dim, $0) }
    }

    private func eventLines(_ ink: Ink, _ width: Int) -> [String] {
        let title = ink(.bold, "Events")
        guard let events else {
            return [title, "  A profile has no events; explain the trace that it was made from to see them."]
        }
        guard events.count > 0 else { return [title, "  The trace has no event that this finding rests on alone."] }
        let shown = UInt64(events.slowest.count)
        let all = Phrase.count(events.count)
        let extent = shown == events.count ? all : "the \(Phrase.count(shown)) slowest of \(all)"
        return [title + "  (\(extent))", ink(.dim, EventText.heading)] + events.slowest
    }

    private func sourceLines(_ ink: Ink, _ width: Int) -> [String] {
        guard !excerpts.isEmpty || !remarks.isEmpty else { return [] }
        let legend = excerpts.isEmpty ? "" : "  (→ the line to change, • observed)"
        let sentences = remarks.flatMap { Phrase.wrapped($0, width: width - 2) }.map { "  " + ink(.dim, $0) }
        let lines = excerpts.indices.flatMap { index in
            let continues = index > 0 && excerpts[index].path == excerpts[index - 1].path
            return excerpts[index].text(ink, width, continues: continues)
        }
        return [ink(.bold, "Sources") + legend] + lines + sentences
    }
}
