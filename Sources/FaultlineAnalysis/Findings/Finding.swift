public import FaultlineTrace

/// A piece of advice, with its evidence and the saving it predicts.
public struct Finding: Sendable, Hashable {
    /// A place where the problem was observed.
    public struct Sighting: Sendable, Hashable {
        /// `nil` if the trace does not have it.
        public var site: CallSite?
        /// The number of times.
        public var count: UInt64
        /// In nanoseconds, or 0 if not measured.
        public var time: UInt64
    }

    /// The rule's number, such as `"R01"`.
    public var rule: String
    /// The rule's name, such as `"N+1 faults"`.
    public var ruleName: String
    /// The change to make, in the imperative: `Prefetch "publisher" with the fetch of Book`.
    public var title: Wording
    /// The line to change, or `nil` if the trace does not have it.
    public var change: CallSite?
    /// The score, from 0 to 100.
    public var score: Double
    /// The places where the problem was observed, the most frequent first.
    public var seenAt: [Sighting] = []
    /// Examples of the events the finding is based on, the slowest first.
    public var samples: [FaultEvidence.Sample] = []
    /// The names of the scopes in which the problem was observed, the most frequent first.
    public var scopes: [String] = []
    /// The numbers the finding is based on.
    public var evidence: [Evidence] = []
    /// The cost of each batch size, for advice about batch sizes.
    public var batchCurve: BatchCurve?
    /// Sentences that explain the evidence, the most important first.
    public var explanation: [Wording] = []
    /// The change to make, as a sentence.
    public var fix: Wording
    /// Alternatives to the change, one sentence each.
    public var alternatives: [Wording] = []
    /// The code to write, line by line.
    public var code: [String] = []
    /// The language of the code: `"swift"`, `"sql"` or `"python"`, or empty if it is a description.
    public internal(set) var codeLanguage = "swift"
    public var saving: Saving
    public var confidence: Confidence
    /// Sentences that explain why the finding is rated below its score.
    public var reservations: [Wording] = []
    /// The finding's identity across runs: rule, entity, shape and function, but no line.
    ///
    /// Edits elsewhere in the file do not change it.
    public var signature: String
    /// The subjects of the events that the finding rests on, or none if their lines identify them.
    var subjects: [EventGroup.Key.Subject] = []
    /// The events that the finding rests on.
    ///
    /// ``Analysis`` sets it.
    public internal(set) var basis = EventBasis()
    /// The accounts of time that the saving draws on.
    var claims: [Claim] = []
    /// The change in a form that a trial can make, or `nil` if only the program's author can make it.
    package internal(set) var remedy: Remedy?

    /// The severity that follows from the score.
    public var severity: Severity { Severity(score: score) }

    /// Turns the finding into a note, whatever its score was.
    mutating func downgrade(_ reason: Wording) {
        score = min(score, Score.highestNote)
        reservations.append(reason)
    }

    /// The value by which findings of one severity are ranked.
    var rank: Double {
        max(saving.time.median, saving.pause?.median ?? 0) * confidence.weight
    }

    /// The saving of the change if no other change is made.
    package var ownSaving: Saving.Range { saving.alone ?? saving.time }
}

/// A number that a finding is based on.
public struct Evidence: Sendable, Hashable {
    public enum Unit: String, Sendable, Hashable, CaseIterable {
        case count, rows, trips, bytes, nanoseconds
        /// From 0 to 1.
        case share
    }

    public var name: String
    public var value: Double
    public var unit: Unit

    public init(_ name: String, _ value: Double, _ unit: Unit) {
        self.name = name
        self.value = value
        self.unit = unit
    }

    init(_ name: String, _ value: UInt64, _ unit: Unit) {
        self.init(name, Double(value), unit)
    }
}

/// The saving that is expected of a change.
public struct Saving: Sendable, Hashable {
    /// A time in nanoseconds, and the range that holds 80 % of its estimates.
    public struct Range: Sendable, Hashable {
        public var median: Double
        public var low: Double
        public var high: Double

        public static let none = Range(median: 0, low: 0, high: 0)

        public init(median: Double, low: Double, high: Double) {
            self.median = median
            self.low = low
            self.high = high
        }

        /// The relative error of times from a single run.
        ///
        /// Every range is at least this wide.
        private static let singleRunError = 0.15

        init(_ range: (median: Double, low: Double, high: Double)) {
            let median = max(0, range.median)
            self.init(
                median: median, low: max(0, min(range.low, median * (1 - Self.singleRunError))),
                high: max(0, range.high, median * (1 + Self.singleRunError)))
        }

        /// Returns the range with all values limited to `limit`.
        func limited(to limit: Double) -> Range {
            Range(median: min(median, limit), low: min(low, limit), high: min(high, limit))
        }
    }

    /// The time saved in the store over the whole trace.
    ///
    /// All findings together never save more time than was spent.
    public var time: Range = .none
    /// The saving of the change alone, if findings before this one claim the same time.
    ///
    /// `nil` if it equals ``time``.
    public var alone: Range?
    /// The numbers, as a report counts them, of the findings that save part of the same time or of the same waits.
    public var after: [Int] = []
    /// The reduction of the longest wait per screen, if the change is meant to shorten it.
    public var pause: Range?
    /// Round trips.
    ///
    /// A negative number is an additional cost.
    public var trips: Int64 = 0
    /// Rows that are no longer loaded.
    public var rows: Int64 = 0
    /// Bytes that are no longer read.
    public var bytes: Int64 = 0
    /// Bytes of peak memory that are no longer needed.
    public var memory: Int64 = 0
}

extension Int64 {
    /// Truncates a number to an integer, clamped to the range of `Int64`.
    ///
    /// NaN becomes 0.
    init(saturating value: Double) {
        self = value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
