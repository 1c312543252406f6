/// How much a finding matters.
public enum Severity: Int, Sendable, Hashable, CaseIterable, Comparable {
    case note, warning, error

    public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }

    /// The severity of a score: an error from 75, a warning from 25.
    public init(score: Double) {
        self = score >= 75 ? .error : score >= 25 ? .warning : .note
    }

    /// `"error"`, `"warning"` or `"note"`.
    public var name: String {
        switch self {
        case .note: "note"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

enum Score {
    /// The highest score that is still a note.
    static let highestNote = 24.0
    /// The highest score that is still a warning.
    static let highestWarning = 74.0

    /// Maps a figure to 0…100: 0 at 0, 25 at `info`, 75 at `warning`, and towards 100 beyond.
    ///
    /// It never falls as the figure grows.
    static func of(_ figure: Double, info: Double, warning: Double) -> Double {
        guard figure > 0 else { return 0 }
        // Thresholds can be set beyond what makes an error, or to nothing.
        let info = max(info, .leastNormalMagnitude)
        let warning = warning > info ? warning : info * 2
        if figure < info { return 25 * figure / info }
        if figure < warning { return 25 + 50 * (figure - info) / (warning - info) }
        return 75 + 25 * (1 - warning / figure)
    }
}

enum Significance {
    /// The share of the work's time, and the times, that a saving must be worth one of.
    static let share = Threshold(
        "significance", "share", 0.01, .share,
        "of the time that the scopes took: the minimum saving worth a warning")
    static let time = Threshold(
        "significance", "time", 2_000_000, .time, "saving that is worth a warning, whatever the scopes took")
    static let mainThreadTime = Threshold(
        "significance", "mainThreadTime", 1_000_000, .time, "saving on the main thread that is worth a warning")
    /// The minimum share of all trips, or of all rows, for a saving to be a warning whatever time it saves.
    static let part = Threshold(
        "significance", "part", 0.2, .share,
        "of all trips or rows: a saving that is worth a warning, whatever time it saves")

    static let thresholds = [share, time, mainThreadTime, part]

    /// Whether a saving is worth a warning: 1 % of the time that the scopes concerned took, or 2 ms, or 1 ms on the main
    /// thread.
    ///
    /// - Parameters:
    ///   - saving: In nanoseconds.
    ///   - wallTime: In nanoseconds; 0: not known.
    static func isMet(saving: Double, wallTime: UInt64, isMainThread: Bool) -> Bool {
        if saving >= time.value || (isMainThread && saving >= mainThreadTime.value) { return true }
        return wallTime > 0 && saving >= Double(wallTime) * share.value
    }

    /// The score of a saving by its time alone: a warning at the floor of ``isMet(saving:wallTime:isMainThread:)``, an
    /// error at ten times as many milliseconds, whatever share of a short run they are.
    ///
    /// - Parameters:
    ///   - saving: In nanoseconds.
    ///   - wallTime: In nanoseconds; 0: not known.
    static func score(saving: Double, wallTime: UInt64, isMainThread: Bool) -> Double {
        let floor = isMainThread ? mainThreadTime.value : time.value
        let part = wallTime > 0 ? Double(wallTime) * share.value : floor
        return Score.of(saving, info: min(floor, part), warning: 10 * floor)
    }

    /// What a finding says that is not worth a warning yet.
    static var notProven: Wording { notProven(of: "the time that the work took") }

    static func notProven(of time: String) -> Wording {
        "Cost not proven at this size: less than \(threshold: share) of \(time)."
    }

    /// What is said of a saving that is not worth a warning.
    static func tooLittle(
        _ saving: String = "The saving is", of work: String = "the time that the work took"
    ) -> Wording {
        "\(saving) below \(threshold: share) of \(work) and below \(threshold: time)"
    }

    /// Whether a part is more than half of a whole.
    static func isMost(_ part: UInt64, of whole: UInt64) -> Bool { Double(part) * 2 > Double(whole) }

    /// Whether a part is half of a whole, or more.
    static func isHalf(_ part: UInt64, of whole: UInt64) -> Bool { Double(part) * 2 >= Double(whole) }

    /// Whether a saving of round trips is worth a warning whatever it saves here: a fifth of all there were.
    ///
    /// A trip costs a microsecond while the pages are in memory and a thousand times that when they are not, so that the
    /// count says more than the time of one run.
    static func isMet(trips: Int64, of all: UInt64) -> Bool {
        trips > 0 && Double(trips) >= Double(all) * part.value
    }

    /// Whether a saving of rows is worth a warning whatever it saves here: a fifth of all that were loaded.
    static func isMet(rows: Int64, of all: UInt64) -> Bool {
        rows > 0 && Double(rows) >= Double(all) * part.value
    }
}

extension Finding {
    /// Makes it a note if it saves little of the time and little of what there is of something else.
    ///
    /// A count alone, such as many trips of two microseconds each, never makes an error.
    ///
    /// - Parameters:
    ///   - isLargePart: Whether a fifth of the others is saved.
    ///   - things: What the others are: `"trips"`.
    mutating func weigh(isLongEnough: Bool, isLargePart: Bool, of things: String) {
        guard !isLongEnough else { return }
        score = min(score, Score.highestWarning)
        guard !isLargePart else { return }
        downgrade(
            "\(Significance.tooLittle()), and below \(threshold: Significance.part) of all \(things)."
        )
    }

    /// Makes it a note if in half of the occasions events were lost.
    mutating func weigh(lossyOccurrences: UInt64, of occurrences: UInt64) {
        let reason: Wording = "Events were lost while it happened."
        guard lossyOccurrences > 0, Significance.isHalf(lossyOccurrences, of: occurrences),
            !reservations.contains(reason)
        else { return }
        confidence = .low
        downgrade(reason)
    }
}
