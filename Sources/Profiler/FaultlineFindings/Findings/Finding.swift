package import FaultlineProfile
package import FaultlineTrace

/// A piece of advice, with its evidence and the saving it predicts.
package struct Finding: Sendable, Hashable {
    /// A place where the problem was observed.
    package struct Sighting: Sendable, Hashable {
        /// `nil` if the trace does not have it.
        package var site: CallSite?
        /// The number of times.
        package var count: UInt64
        /// In nanoseconds, or 0 if not measured.
        package var time: UInt64

        package init(site: CallSite?, count: UInt64, time: UInt64) {
            (self.site, self.count, self.time) = (site, count, time)
        }
    }

    /// The rule's number, such as `"R01"`.
    package var rule: String
    /// The rule's name, such as `"N+1 faults"`.
    package var ruleName: String
    /// The change to make, in the imperative: `Prefetch "publisher" with the fetch of Book`.
    package var title: Wording
    /// The line to change, or `nil` if the trace does not have it.
    package var change: CallSite?
    /// The severity that the evidence and the saving are worth.
    package var severity: Severity
    /// The places where the problem was observed, the most frequent first.
    package var seenAt: [Sighting] = []
    /// Examples of the events the finding is based on, the slowest first.
    package var samples: [EventSample] = []
    /// The names of the scopes in which the problem was observed, the most frequent first.
    package var scopes: [String] = []
    /// The recordings in which it occurs, or `nil` for a single recording and if that is not known.
    ///
    /// All other figures are means of one of these recordings. ``Analysis`` sets it.
    package var occurrence: Occurrence?
    /// Whether only some of the recordings show it, and not their mean.
    package var isBeyondMean = false
    /// The numbers the finding is based on.
    package var evidence: [Evidence] = []
    /// The cost of each batch size, for advice about batch sizes.
    package var batchCurve: BatchCurve?
    /// Sentences that explain the evidence, the most important first.
    package var explanation: [Wording] = []
    /// The change to make, as a sentence.
    package var fix: Wording
    /// Alternatives to the change, one sentence each.
    package var alternatives: [Wording] = []
    /// The code to write, line by line.
    package var code: [String] = []
    /// The language of the code: `"swift"`, `"sql"` or `"python"`, or empty if it is a description.
    package var codeLanguage = "swift"
    package var saving: Saving
    package var confidence: Confidence
    /// Sentences that explain why the finding is less severe than its evidence.
    package var reservations: [Wording] = []
    /// The finding's identity across runs: rule, entity, shape and function, but no line.
    ///
    /// Edits elsewhere in the file do not change it.
    package var signature: String
    /// The subjects of the events that the finding rests on, or none if their lines identify them.
    package var subjects: [EventGroup.Key.Subject] = []
    /// The events that the finding rests on.
    ///
    /// ``Analysis`` sets it.
    package internal(set) var basis = EventBasis()
    /// The saving of time as a share of the run, from 0 to 1; 0 if there is none, or the run's time is unknown.
    ///
    /// ``Analysis`` sets it.
    package var share = 0.0
    /// Whether operations failed, which is an error however short they were.
    package var hasFailures = false
    /// The accounts of time that the saving draws on.
    package var claims: [Claim] = []
    /// The change in a form that a trial can make, or `nil` if only the program's author can make it.
    package var remedy: Remedy?

    package init(
        rule: String, ruleName: String, title: Wording, change: CallSite? = nil, severity: Severity, fix: Wording,
        code: [String] = [], saving: Saving, confidence: Confidence, signature: String
    ) {
        (self.rule, self.ruleName, self.title, self.change, self.severity) = (rule, ruleName, title, change, severity)
        (self.fix, self.code, self.saving, self.confidence) = (fix, code, saving, confidence)
        self.signature = signature
    }

    /// Turns the finding into a note, whatever its severity was.
    package mutating func downgrade(_ reason: Wording) {
        severity = .note
        reservations.append(reason)
    }

    /// The value by which findings of one severity are ranked.
    package var rank: Double {
        max(saving.time.median, saving.pause?.median ?? 0) * confidence.weight * weight
    }

    /// The saving of the change if no other change is made.
    package var ownSaving: Saving.Range { saving.alone ?? saving.time }
}

extension Int64 {
    /// Truncates a number to an integer, clamped to the range of `Int64`.
    ///
    /// NaN becomes 0.
    package init(saturating value: Double) {
        self = value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}

extension Finding {
    /// Turns the finding into a note if it saves too little time and too small a share of something else.
    ///
    /// A count alone, such as many trips of two microseconds each, never makes an error.
    ///
    /// - Parameters:
    ///   - isLargePart: Whether it saves at least a fifth of the other measure.
    ///   - things: The plural of the other measure, such as `"trips"`.
    package mutating func weigh(isLongEnough: Bool, isLargePart: Bool, of things: String) {
        guard !isLongEnough else { return }
        severity = min(severity, .warning)
        guard !isLargePart else { return }
        downgrade(
            "\(Significance.tooLittle()), and below \(threshold: Significance.part) of all \(things)."
        )
    }

    /// Makes an error that saves little time a warning: counts alone make no error of a few milliseconds.
    ///
    /// - Parameter run: The run's time in nanoseconds, or 0 if unknown.
    package mutating func rate(by run: UInt64) {
        // A shorter wait for each screen does not depend on how long the program runs.
        let saved = saving.time.median
        guard saved > 0, run > 0, !hasFailures else { return }
        if saved < Significance.errorTime || saved < Double(run) * Significance.errorShare {
            severity = min(severity, .warning)
        }
    }

    /// Makes a warning that saves next to nothing of the run a note.
    ///
    /// - Parameter run: The run's time in nanoseconds, or 0 if unknown.
    package mutating func waive(in run: UInt64) {
        let saved = ownSaving.median
        guard severity > .note, saved > 0, !hasFailures, saved < Significance.time.value,
            saved < Double(run) * Significance.share.value
        else { return }
        downgrade("\(Significance.tooLittle(of: "the run")).")
    }

    /// Turns the finding into a note because the program spends a long time elsewhere between two operations.
    ///
    /// - Parameters:
    ///   - wait: The mean time, in nanoseconds.
    ///   - operations: The plural of the operations, such as `"fetches"`.
    ///   - things: The plural of the things that the operations may wait for, such as `"values"`.
    package mutating func downgrade(forWaiting wait: UInt64, between operations: String, arriving things: String) {
        downgrade(
            "Between the \(operations) the program spends \(duration: wait) elsewhere each time, so the \(things) may arrive "
                + "one by one.")
    }

    /// Turns the finding into a note if events were lost on at least half of the occasions.
    package mutating func weigh(lossyOccurrences: UInt64, of occurrences: UInt64) {
        let reason: Wording = "Events were lost while it happened."
        guard lossyOccurrences > 0, Significance.isAtLeastHalf(lossyOccurrences, of: occurrences),
            !reservations.contains(reason)
        else { return }
        confidence = .low("events were lost")
        downgrade(reason)
    }
}

/// The number of recordings in which a finding occurs.
package struct Occurrence: Sendable, Hashable {
    /// The recordings that have the finding when they are examined on their own.
    package let recordings: UInt64
    /// All merged recordings.
    package let all: UInt64

    package init(recordings: UInt64, of all: UInt64) { (self.recordings, self.all) = (recordings, all) }

    /// The recordings as a share of all, from 0 to 1.
    package var share: Double { Double(recordings) / Double(max(1, all)) }

    /// The numbers as words: `3 of 12 recordings`.
    package var wording: Wording { "\(count: recordings) of \(count: all, "recording")" }
}

extension Finding {
    /// The share of the recordings in which the finding occurs, by which its saving is weighed against others.
    package var weight: Double { occurrence?.share ?? 1 }

    /// Turns a finding that few recordings have into a note.
    ///
    /// One slow event of one recording can be chance.
    ///
    /// - Parameter operations: The number of recordings with the operations that it is about.
    package mutating func weighOccurrence(among operations: UInt64) {
        guard let occurrence, severity > .note,
            Double(occurrence.recordings) < Double(operations) * Significance.recordings.value
        else { return }
        downgrade(
            "It occurs in \(count: occurrence.recordings) of \(count: operations, "recording") with this operation, fewer "
                + "than \(threshold: Significance.recordings).")
    }
}

extension [Finding] {
    /// Joins findings that recommend the same change into one, which begins with the largest saving.
    ///
    /// - Parameter change: The subject of the sentence about the others, such as "The index".
    package func joined(_ change: Wording) -> [Finding] {
        var groups: [String: [Finding]] = [:]
        for finding in self { groups[finding.signature, default: []].append(finding) }
        return groups.ordered(on: \.key).map { $0.value.joinedToOne(change) }
    }

    private func joinedToOne(_ change: Wording) -> Finding {
        let largest = indices.reduce(startIndex) { best, index in
            self[index].saving.time.median > self[best].saving.time.median ? index : best
        }
        var joined = self[largest]
        guard count > 1 else { return joined }
        for index in indices where index != largest {
            let other = self[index]
            joined.seenAt += other.seenAt
            joined.subjects += other.subjects
            joined.claims += other.claims
            joined.scopes = Array<String>(Set(joined.scopes).union(other.scopes)).sorted()
            let (time, more) = (joined.saving.time, other.saving.time)
            joined.saving.time = Saving.Range(
                median: time.median + more.median, low: time.low + more.low, high: time.high + more.high)
            joined.severity = Swift.max(joined.severity, other.severity)
            // The statement that is tried stands for the others.
            if case .statement(var change) = joined.remedy, case .statement(let more) = other.remedy {
                let rows = Double(change.rows) / Double(Swift.max(1, change.executions))
                let executions =
                    Double(more.time) / Swift.max(1, Double(change.time) / Double(Swift.max(1, change.executions)))
                change.executions &+= UInt64(Swift.min(executions, 1e15))
                change.rows &+= UInt64(Swift.min(rows * executions, 1e15))
                change.time &+= more.time
                joined.remedy = .statement(change)
            }
        }
        joined.explanation.append(
            "\(change) also serves \(count: UInt64(count - 1), "other statement") of this program.")
        return joined
    }
}

/// A claim of a finding's saving on an account of time.
///
/// No time is allotted twice.
package struct Claim: Sendable, Hashable {
    package enum Account: Sendable, Hashable {
        /// Loading the rows of one fetch, at once or in batches.
        case loads(FetchProfile.Key)
        /// Preparing one statement at one line, outside any operation of an object store.
        case preparing(StatementSite)
        /// The evidence of a detector under one key.
        case evidence(EvidenceReference)
    }

    package var account: Account
    /// The account's balance before the first claim, in nanoseconds.
    package var balance: Double

    package init(account: Account, balance: Double) {
        self.account = account
        self.balance = balance
    }

    /// Creates a claim on the time of a detector's evidence.
    package init<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, _ key: Gatherer.Key, balance: Double) {
        self.init(account: .evidence(EvidenceReference(detector, key)), balance: balance)
    }

    /// Creates a claim on the time of fetches and their batches, without those in set-up scopes.
    package static func loads(_ fetch: FetchProfile.Key, _ profile: Profile) -> Claim {
        let counts = profile.fetch(fetch)?.counts
        return Claim(
            account: .loads(fetch), balance: Double(counts?.time ?? 0) + Double(counts?.batchTime ?? 0))
    }
}

/// How far an estimated saving can be trusted, and why no further.
package struct Confidence: Sendable, Hashable, Comparable {
    package enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
        case low, medium, high

        package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    package let level: Level
    /// A clause that says why the confidence is not high: `"the costs of trips and rows are assumed"`.
    ///
    /// `nil` if it is high.
    package let reason: String?

    package static let high = Confidence(level: .high, reason: nil)

    package static func medium(_ reason: String) -> Confidence { Confidence(level: .medium, reason: reason) }

    package static func low(_ reason: String) -> Confidence { Confidence(level: .low, reason: reason) }

    /// Compares the levels.
    package static func < (a: Confidence, b: Confidence) -> Bool { a.level < b.level }

    /// The factor for a saving when findings are ranked.
    var weight: Double {
        switch level {
        case .low: 0.4
        case .medium: 0.7
        case .high: 1
        }
    }
}

/// Text for the parts of a signature.
package enum SignatureText {
    /// A shape as its entity and a hash, which is short but unambiguous.
    ///
    /// It omits prefetched key paths, so following one piece of advice does not rename other findings. It also omits
    /// the fields that newer recorders add, so findings keep their names.
    package static func shape(_ shape: ShapeEntry) -> String {
        var shape = shape
        shape.prefetch = []
        shape.terms = nil
        shape.includesPropertyValues = nil
        let hash = String(StableHash.text(shape.sortText), radix: 16)
        return "\(shape.entity)#" + String(repeating: "0", count: 16 - hash.count) + hash
    }
}
