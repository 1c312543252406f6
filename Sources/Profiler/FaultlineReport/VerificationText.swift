internal import FaultlineDocuments
internal import FaultlineFindings
package import FaultlineRules
internal import FaultlineTrace

/// The results of trying advice as text for a terminal.
package struct VerificationText: Sendable {
    let verification: Verification

    package init(_ verification: Verification) {
        self.verification = verification
    }

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–100.
    ///   - colour: Whether to colour the text for a terminal.
    package func render(width: Int = 100, colour: Bool = false) -> String {
        let width = TextPage.width(width)
        let ink = Ink(isColoured: colour)
        var sections = [Phrase.wrapped(summary, width: width).map { ink(.bold, $0) }]
        sections += tried.enumerated().map { lines($1, number: $0 + 1, ink, width) }
        return TextPage.joined(sections + [untried(ink, width)], ink)
    }

    private var tried: [Trial] { verification.trials.filter { $0.measurement != nil } }

    private var summary: String {
        let name = Phrase.fileName(verification.store)
        let all = verification.trials
        guard !all.isEmpty else { return "\(name): the trace has no findings to try." }
        let tried = tried
        guard !tried.isEmpty else {
            return "\(name): none of \(Phrase.count(UInt64(all.count), "finding")) could be tried."
        }
        let counts = Trial.Outcome.allCases.map(\.word).compactMap { word -> String? in
            let count = tried.count { $0.outcome.word == word }
            return count == 0 ? nil : "\(Phrase.count(count)) \(word)"
        }
        let findings = Phrase.count(UInt64(tried.count), "finding")
        return "\(name): \(findings) tried on a copy: \(counts.joined(separator: ", "))."
    }

    private func lines(_ trial: Trial, number: Int, _ ink: Ink, _ width: Int) -> [String] {
        let tone: Ink.Tone =
            trial.outcome == .withdrawn ? .red : [.less, .unclear, .nothing].contains(trial.outcome) ? .yellow : .green
        var text = FindingsText.head(trial.finding, "\(number). \(trial.outcome.word)", tone, ink, width)
        for sentence in trial.sentences { text += FindingsText.body(sentence, width: width) }
        return text
    }

    /// The advice that was not tried, grouped by reason.
    private func untried(_ ink: Ink, _ width: Int) -> [String] {
        var reasons: [String] = []
        var titles: [String: [String]] = [:]
        for trial in verification.trials {
            guard case .notTried(let reason) = trial.outcome else { continue }
            if titles[reason] == nil { reasons.append(reason) }
            titles[reason, default: []].append("\(trial.finding.rule) \(trial.finding.title)")
        }
        guard !reasons.isEmpty else { return [] }
        var lines = [ink(.bold, "Not tried")]
        for reason in reasons {
            lines += Phrase.wrapped(reason, width: width - 2).map { "  " + $0 }
            for title in titles[reason] ?? [] {
                let parts = Phrase.wrapped(title, width: width - 6)
                lines += parts.enumerated().map { ($0.offset == 0 ? "    " : "      ") + $0.element }
            }
        }
        return lines
    }
}

extension Verification: PageDocumented {
    package func text(_ layout: Layout) -> String {
        VerificationText(self).render(width: layout.width, colour: layout.isColoured)
    }
}
