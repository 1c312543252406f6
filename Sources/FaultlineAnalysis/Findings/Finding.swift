public import FaultlineTrace

/// A piece of advice, with what it rests on and what it is expected to bring.
public struct Finding: Sendable, Hashable {
    /// A place where what was found happened.
    public struct Sighting: Sendable, Hashable {
        /// `nil`: the trace does not say.
        public var site: CallSite?
        /// How often.
        public var count: UInt64
        /// In nanoseconds; 0: not measured.
        public var time: UInt64
    }

    /// The number of the rule: `"R01"`.
    public var rule: String
    /// The rule's name in words: `"N+1 faults"`.
    public var ruleName: String
    /// What to do, as a command: `Prefetch "publisher" with the fetch of Book`.
    public var title: Wording
    /// The line to change; `nil`: the trace does not say where it is.
    public var change: CallSite?
    /// 0…100.
    public var score: Double
    /// Where it was seen, the most frequent place first.
    public var seenAt: [Sighting] = []
    /// Some of the events that it rests on, the slowest first.
    public var samples: [FaultEvidence.Sample] = []
    /// Scopes in which it was seen, by name, the most frequent first.
    public var scopes: [String] = []
    /// What the finding rests on, in numbers.
    public var evidence: [Evidence] = []
    /// Of advice about a batch size: what each size would cost.
    public var batchCurve: BatchCurve?
    /// The same in sentences, the most telling first.
    public var explanation: [Wording] = []
    /// What to change, in a sentence.
    public var fix: Wording
    /// What can be done instead: a sentence each.
    public var alternatives: [Wording] = []
    /// The code to write, line by line.
    public var code: [String] = []
    public var saving: Saving
    public var confidence: Confidence
    /// Why the finding counts for less than its score: a sentence each.
    public var reservations: [Wording] = []
    /// The finding's name across runs: rule, entity, shape and function, but no line.
    ///
    /// Edits elsewhere in a file leave it.
    public var signature: String
    /// The time that the saving can come out of.
    var claims: [Claim] = []
    /// The change in a form that can be tried; `nil`: it is one that nobody but the program's author can make.
    package internal(set) var remedy: Remedy?

    /// How much it matters, by its score.
    public var severity: Severity { Severity(score: score) }

    /// Makes a note of the finding, whatever its score was.
    mutating func downgrade(_ reason: Wording) {
        score = min(score, Score.highestNote)
        reservations.append(reason)
    }

    /// What findings are ranked by.
    var rank: Double {
        max(saving.time.median, saving.pause?.median ?? 0) * confidence.weight
    }

    /// What the change saves where nothing else is changed.
    package var ownSaving: Saving.Range { saving.alone ?? saving.time }
}

/// A number that a finding rests on.
public struct Evidence: Sendable, Hashable {
    public enum Unit: String, Sendable, Hashable, CaseIterable {
        case count, rows, trips, bytes, nanoseconds
        /// 0…1.
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

/// What a change is expected to save.
public struct Saving: Sendable, Hashable {
    /// A time in nanoseconds and the range in which 80 % of its estimates lie.
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

        /// How far off times of one run can be, whatever is worked out from them.
        private static let wobble = 0.15

        init(_ range: (median: Double, low: Double, high: Double)) {
            let median = max(0, range.median)
            self.init(
                median: median, low: max(0, min(range.low, median * (1 - Self.wobble))),
                high: max(0, range.high, median * (1 + Self.wobble)))
        }

        /// The range with nothing above a limit.
        func limited(to limit: Double) -> Range {
            Range(median: min(median, limit), low: min(low, limit), high: min(high, limit))
        }
    }

    /// Time in the store over the whole trace.
    ///
    /// Those of all findings together never exceed the time that was spent.
    public var time: Range = .none
    /// What the change saves by itself, where others before it claim the same time; `nil`: ``time``.
    public var alone: Range?
    /// Numbers of the findings that claim the same time, as a report counts them; empty: none.
    public var after: [Int] = []
    /// By how much the longest wait of each screen gets shorter, where that is what the change is for.
    public var pause: Range?
    /// Round trips; negative: the change costs some.
    public var trips: Int64 = 0
    /// Rows that need not be loaded.
    public var rows: Int64 = 0
    /// Bytes that need not be read.
    public var bytes: Int64 = 0
    /// Bytes that need not be held at a time.
    public var memory: Int64 = 0
}

extension Int64 {
    /// A number without its fraction; the largest or smallest one where it does not fit, 0 for none at all.
    init(saturating value: Double) {
        self = value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
