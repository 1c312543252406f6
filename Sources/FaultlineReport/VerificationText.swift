internal import FaultlineFindings
public import FaultlineRules
internal import FaultlineTrace

/// The results of trying advice as text for a terminal.
public struct VerificationText: Sendable {
    let verification: Verification

    public init(_ verification: Verification) {
        self.verification = verification
    }

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–100.
    ///   - colour: Whether to colour the text for a terminal.
    public func render(width: Int = 100, colour: Bool = false) -> String {
        let width = TextPage.width(width)
        let ink = Ink(isColoured: colour)
        var sections = [TextTable.wrapped(summary, width: width).map { ink(.bold, $0) }]
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
        for sentence in Self.sentences(trial) { text += FindingsText.body(sentence, width: width) }
        return text
    }

    /// The measurements of a trial and their consequences, one paragraph each.
    static func sentences(_ trial: Trial) -> [String] {
        var sentences: [String] = []
        if let measurement = trial.measurement, let figure = trial.figure, let expected = trial.expected {
            sentences += [
                sentence(figure, expected, isPause: trial.isAboutPause),
                sentence(measurement, isPause: trial.isAboutPause),
            ]
        }
        switch trial.outcome {
        case .withdrawn:
            let much = (trial.figure?.gain.high ?? 0) > 0 ? "far less time than predicted, if any" : "no time"
            sentences.append("The finding is withdrawn: on this store the change saves \(much).")
        case .nothing:
            sentences.append(
                (trial.figure?.gain.high ?? 0) < 0
                    ? "The finding predicted no saving of time, and on this store the change costs some."
                    : "The finding predicted no saving of time.")
        case .unclear: sentences.append("The difference is within the noise; the counts are exact.")
        case .notTried(let reason): sentences.append(reason)
        case .confirmed, .more, .less: break
        }
        if !trial.notes.isEmpty { sentences.append(trial.notes.joined(separator: " ")) }
        return sentences
    }

    /// The measured times and the predicted saving.
    ///
    ///     12.3 ms before, 4.10 ms after: saves 8.20 ms (8.02–8.41 ms), 67 %. Predicted: 7.92 ms (6.11–9.64 ms).
    private static func sentence(
        _ figure: TrialMeasurement.Figure, _ expected: Saving.Range, isPause: Bool
    ) -> String {
        let (before, after) = (Phrase.duration(figure.before.median), Phrase.duration(figure.after.median))
        let gain = figure.gain.median
        let word = gain < 0 ? "costs" : "saves"
        let range =
            gain < 0
            ? Saving.Range(median: -gain, low: -figure.gain.high, high: -figure.gain.low) : figure.gain
        let share = figure.before.median > 0 ? ", \(Phrase.percent(abs(gain) / figure.before.median))" : ""
        let what = isPause ? "The longest wait: " : ""
        return "\(what)\(before) before, \(after) after: \(word) \(Phrase.duration(range))\(share). Predicted: "
            + (expected.median > 0 ? "\(Phrase.duration(expected))." : "nothing measurable.")
    }

    private static func sentence(_ measurement: TrialMeasurement, isPause: Bool) -> String {
        let (before, after) = (measurement.before, measurement.after)
        // Migrations are not counted.
        let isCounted = [before, after].contains { $0.trips > 0 || $0.rows > 0 }
        var words =
            isCounted ? "\(change("Trips", before.trips, after.trips)), \(change("rows", before.rows, after.rows))" : ""
        if isPause {
            let time = measurement.time
            words +=
                "\(isCounted ? "; time" : "Time") \(Phrase.duration(time.before.median)) → \(Phrase.duration(time.after.median)) in all"
        }
        let part =
            measurement.operations == measurement.recordedOperations
            ? "" : "\(Phrase.count(measurement.operations)) of "
        let operations = Phrase.count(measurement.recordedOperations, "recorded operation")
        return (words.isEmpty ? "" : words + ". ")
            + "Replayed \(part)\(operations), \(Phrase.count(measurement.rounds)) times with the change and without."
    }

    private static func change(_ name: String, _ before: UInt64, _ after: UInt64) -> String {
        before == after ? "\(name) \(Phrase.count(after))" : "\(name) \(Phrase.count(before)) → \(Phrase.count(after))"
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
            lines += TextTable.wrapped(reason, width: width - 2).map { "  " + $0 }
            for title in titles[reason] ?? [] {
                let parts = TextTable.wrapped(title, width: width - 6)
                lines += parts.enumerated().map { ($0.offset == 0 ? "    " : "      ") + $0.element }
            }
        }
        return lines
    }
}

extension Trial.Outcome {
    /// The outcome in words: `"confirmed"`.
    var word: String {
        switch self {
        case .confirmed: "confirmed"
        case .nothing: "saves no time"
        case .more: "saves more"
        case .less: "saves less"
        case .withdrawn: "withdrawn"
        case .unclear: "below the noise"
        case .notTried: "not tried"
        }
    }
}
