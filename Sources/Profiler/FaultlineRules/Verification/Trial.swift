package import FaultlineFindings
internal import FaultlineProfile

/// The result of trying a finding's change on a copy of a store.
package struct Trial: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// The change saves what the finding predicted.
        case confirmed
        /// It saves no time, as the finding predicted.
        case nothing
        /// The change saves more than predicted.
        case more
        /// The change saves time, but less than predicted.
        case less
        /// The change saves nothing measurable, although a measurable saving was predicted.
        ///
        /// The finding is withdrawn.
        case withdrawn
        /// The predicted saving is below the noise.
        case unclear
        /// The change could not be tried, for the reason in this sentence.
        case notTried(String)
    }

    package let finding: Finding
    package let outcome: Outcome
    /// `nil` if the change was not tried.
    package let measurement: TrialMeasurement?
    /// The finding's prediction, scaled to the speed of this machine if that differs much.
    package let expected: Saving.Range?
    /// Remarks on the trial, one sentence each.
    package let notes: [String]

    package init(_ finding: Finding, notTried reason: String) {
        self.finding = finding
        outcome = .notTried(reason)
        (measurement, expected, notes) = (nil, nil, [])
    }

    /// Evaluates a measurement.
    ///
    /// - Parameter recorded: The duration of the operations in the trace, in nanoseconds, or 0 if unknown.
    package init(_ finding: Finding, _ measurement: TrialMeasurement, recorded: Double, notes: [String]) {
        self.finding = finding
        self.measurement = measurement
        // Another machine, or a build without optimisation, takes a different time for the same work. Smaller differences
        // are those between any two runs.
        let ratio = recorded > 0 ? measurement.time.before.median / recorded : 1
        let pace = Self.usualPace.contains(ratio) ? 1 : ratio
        // The trial applies this change alone, so savings that other findings also claim count here.
        let claimed = finding.saving.pause ?? finding.ownSaving
        let expected = Saving.Range(
            median: claimed.median * pace, low: min(claimed.low, claimed.median * (1 - Self.replay)) * pace,
            high: max(claimed.high, claimed.median * (1 + Self.replay)) * pace)
        self.expected = expected
        outcome = Self.evaluate(Self.figure(of: measurement, for: finding), expected)
        self.notes = notes + Self.remark(pace, isKnown: recorded > 0)
    }

    /// The ratios of the time here to that in the trace at which predictions are not scaled.
    private static let usualPace = 0.8...1.25

    /// The share by which replayed work differs from the recorded work: a few fetches stand for all, some with other
    /// values.
    private static let replay = 0.2

    /// The measured figure that the prediction is about: the pause if it predicts a shorter one, or else the time.
    package var figure: TrialMeasurement.Figure? { measurement.map { Self.figure(of: $0, for: finding) } }

    /// Whether the finding predicts a shorter pause.
    package var isAboutPause: Bool { finding.saving.pause != nil }

    private static func figure(of measurement: TrialMeasurement, for finding: Finding) -> TrialMeasurement.Figure {
        finding.saving.pause == nil ? measurement.time : measurement.pause
    }

    /// The share of the time below which a difference is not reported.
    private static let noticeable = 0.05

    private static func evaluate(_ figure: TrialMeasurement.Figure, _ expected: Saving.Range) -> Outcome {
        let gain = figure.gain
        // A finding that predicts no saving is right unless there is one.
        guard expected.median > 0 else {
            return gain.low > max(expected.high, noticeable * figure.before.median) ? .more : .nothing
        }
        guard gain.low > 0 else { return gain.high < expected.low || gain.high <= 0 ? .withdrawn : .unclear }
        if gain.low > expected.high { return .more }
        return gain.high < expected.low ? .less : .confirmed
    }

    /// A remark on the speed of this machine, if it differs enough to matter.
    private static func remark(_ pace: Double, isKnown: Bool) -> [String] {
        guard isKnown else { return ["The trace does not show how long the work took."] }
        guard pace != 1 else { return [] }
        return [
            (pace < 1
                ? "This machine is \(Phrase.decimal(1 / pace, places: 2)) times as fast as the recorded run"
                : "The same work takes \(Phrase.decimal(pace, places: 2)) times as long here as in the trace")
                + "; the prediction was adjusted."
        ]
    }
}

extension Analysis {
    /// The recorded time of the operations that a finding's change affects, in nanoseconds.
    package func recordedTime(of finding: Finding) -> Double {
        if case .statement(let change) = finding.remedy { return Double(change.time) }
        let fetches = finding.remedy?.fetches ?? []
        guard !fetches.isEmpty else { return finding.claims.reduce(0) { $0 + $1.balance } }
        if case .joinFetches(let fetch, let term) = finding.remedy, let loop = profile.loop(of: fetch, term: term) {
            let estimate = costs.rows(of: fetch.shape)
            return loop.repeatedTime(profile.fetch(fetch), estimate)(estimate.line)
        }
        let known = Set(fetches)
        let faults = profile.faults.reduce(0) { sum, fault in
            known.contains(fault.key.fetch) ? sum + fault.evidence.typicalTime : sum
        }
        return known.reduce(faults) { $0 + Claim.loads($1, profile).balance }
    }
}
