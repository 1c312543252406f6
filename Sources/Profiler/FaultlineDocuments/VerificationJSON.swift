internal import FaultlineFindings
package import FaultlineRules

extension Verification: JSONDocument {
    package static let name = "verify"
    package static let title = "The results of trying advice"
    package static let summary = "The output of `faultline verify --format json`. Times are in nanoseconds."
    package static let members: JSONMembers<Verification> = [
        .init("store", "The path of the store.", \.store), .init("trials", \.trials),
    ]
}

extension Trial: JSONObject {
    package static let members: JSONMembers<Trial> = [
        .init("finding", \.finding), .init("outcome", \.outcome),
        .init("reason", "Why it was not tried.", \.outcome.reason),
        .init("expected", "The predicted saving of the replayed operations.", \.expected),
        .init("figure", "The measured time that the prediction is about.", \.figure),
        .init("measurement", \.measurement), .init("notes", \.notes),
        .init("text", "The measurements and their consequences, as the text report states them.") {
            $0.sentences
        },
    ]
}

extension Trial.Outcome: JSONWord {
    package static let allCases: [Trial.Outcome] = [
        .confirmed, .nothing, .more, .less, .withdrawn, .unclear, .notTried(""),
    ]

    package var jsonWord: String { word }

    fileprivate var reason: String? { if case .notTried(let reason) = self { reason } else { nil } }
}

extension TrialMeasurement: JSONObject {
    package static let members: JSONMembers<TrialMeasurement> = [
        .init("rounds", \.rounds), .init("operations", \.operations),
        .init("recordedOperations", \.recordedOperations), .init("time", \.time), .init("pause", \.pause),
        .init("before", \.before), .init("after", \.after),
    ]
}

extension TrialMeasurement.Figure: JSONObject {
    package static let definition: String? = "figure"
    package static let summary = "A time before and after the change."
    package static let members: JSONMembers<TrialMeasurement.Figure> = [
        .init("before", \.before), .init("after", \.after), .init("gain", \.gain),
    ]
}

extension TrialMeasurement.Counts: JSONObject {
    package static let members: JSONMembers<TrialMeasurement.Counts> = [.init("trips", \.trips), .init("rows", \.rows)]
}

// MARK: - Sentences

extension Trial {
    /// The measurements of a trial and their consequences, one paragraph each.
    package var sentences: [String] {
        var sentences: [String] = []
        if let measurement, let figure, let expected {
            sentences += [
                Self.sentence(figure, expected, isPause: isAboutPause),
                Self.sentence(measurement, isPause: isAboutPause),
            ]
        }
        switch outcome {
        case .withdrawn:
            let much = (figure?.gain.high ?? 0) > 0 ? "far less time than predicted, if any" : "no time"
            sentences.append("The finding is withdrawn: on this store the change saves \(much).")
        case .nothing:
            sentences.append(
                (figure?.gain.high ?? 0) < 0
                    ? "The finding predicted no saving of time, and on this store the change costs some."
                    : "The finding predicted no saving of time.")
        case .unclear: sentences.append("The difference is within the noise; the counts are exact.")
        case .notTried(let reason): sentences.append(reason)
        case .confirmed, .more, .less: break
        }
        if !notes.isEmpty { sentences.append(notes.joined(separator: " ")) }
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
        let counts =
            isCounted ? "\(change("Trips", before.trips, after.trips)), \(change("rows", before.rows, after.rows))" : ""
        let time = measurement.time
        let times = "\(Phrase.duration(time.before.median)) → \(Phrase.duration(time.after.median)) in all"
        let operations = Phrase.count(measurement.recordedOperations, "recorded operation")
        let rounds = "\(Phrase.count(measurement.rounds)) times with the change and without"
        guard measurement.operations != measurement.recordedOperations else {
            let words = isPause ? (isCounted ? "\(counts); time \(times)" : "Time \(times)") : counts
            return (words.isEmpty ? "" : words + ". ") + "Replayed \(operations), \(rounds)."
        }
        // The counts are those of the replayed operations, and the times those of all.
        let replayed = Phrase.count(measurement.operations)
        return "Replayed \(replayed) of \(operations), \(rounds); the times are extrapolated to all."
            + (isCounted ? " \(counts) in the \(replayed) replayed." : "") + (isPause ? " Time \(times)." : "")
    }

    private static func change(_ name: String, _ before: UInt64, _ after: UInt64) -> String {
        before == after ? "\(name) \(Phrase.count(after))" : "\(name) \(Phrase.count(before)) → \(Phrase.count(after))"
    }
}

extension Trial.Outcome {
    /// The outcome in words: `"confirmed"`.
    package var word: String {
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
