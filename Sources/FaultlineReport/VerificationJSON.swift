public import FaultlineAnalysis

/// The results of trying advice as JSON.
///
/// Times are in nanoseconds.
public struct VerificationJSON: Sendable {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    public static let version = 1

    let verification: Verification

    public init(_ verification: Verification) {
        self.verification = verification
    }

    /// Returns the JSON, with a trailing line feed.
    public func render() -> String {
        JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "store": .string(verification.store),
            "trials": .array(verification.trials.map(Self.trial)),
        ]).indented + "\n"
    }

    private static func trial(_ trial: Trial) -> JSONValue {
        var reason: String?
        if case .notTried(let why) = trial.outcome { reason = why }
        return .sorted([
            "finding": FindingJSON.value(trial.finding), "outcome": .string(trial.outcome.word),
            "reason": .optional(reason), "expected": trial.expected.map(FindingJSON.range) ?? .null,
            "figure": trial.figure.map(figure) ?? .null, "measurement": trial.measurement.map(measurement) ?? .null,
            "notes": .array(trial.notes.map { .string($0) }),
            "text": .array(VerificationText.sentences(trial).map { .string($0) }),
        ])
    }

    private static func measurement(_ measurement: TrialMeasurement) -> JSONValue {
        .sorted([
            "rounds": .integer(Int64(measurement.rounds)), "operations": .unsigned(measurement.operations),
            "recordedOperations": .unsigned(measurement.recordedOperations), "time": figure(measurement.time),
            "pause": figure(measurement.pause), "before": counts(measurement.before),
            "after": counts(measurement.after),
        ])
    }

    private static func figure(_ figure: TrialMeasurement.Figure) -> JSONValue {
        .sorted([
            "before": FindingJSON.range(figure.before), "after": FindingJSON.range(figure.after),
            "gain": FindingJSON.range(figure.gain),
        ])
    }

    private static func counts(_ counts: TrialMeasurement.Counts) -> JSONValue {
        .sorted(["trips": .unsigned(counts.trips), "rows": .unsigned(counts.rows)])
    }
}
