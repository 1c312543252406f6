package import FaultlineProfile

/// The severity of a finding.
package enum Severity: Int, Sendable, Hashable, CaseIterable, Comparable {
    case note, warning, error

    package static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }

    /// The severity of a figure: a warning from one threshold, an error from a higher one, and a note below.
    package static func of(_ figure: Double, warning: Double, error: Double) -> Severity {
        // A user can set the first to 0, or above the second.
        let warning = max(warning, .leastNormalMagnitude)
        return figure >= (error > warning ? error : warning * 2) ? .error : figure >= warning ? .warning : .note
    }

    /// `"error"`, `"warning"` or `"note"`.
    package var name: String {
        switch self {
        case .note: "note"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

package enum Significance {
    /// The minimum saving for a warning: a share of the work's time, or an absolute time.
    package static let share = Threshold(
        "significance", "share", 0.01, .share,
        "minimum saving for a warning, as a share of the scopes' time")
    package static let time = Threshold(
        "significance", "time", 2_000_000, .time, "minimum saving for a warning, whatever the scopes took")
    static let mainThreadTime = Threshold(
        "significance", "mainThreadTime", 1_000_000, .time, "the same on the main thread")
    /// The minimum share of all trips or rows for a saving to be a warning, whatever time it saves.
    static let part = Threshold(
        "significance", "part", 0.2, .share,
        "minimum saving for a warning, as a share of all trips or rows, whatever time it saves; not for R01, which "
            + "requires a saving of time"
    )

    /// The minimum share of the recordings with an operation in which a finding about it occurs, for a warning.
    static let recordings = Threshold(
        "significance", "recordings", 0.25, .share,
        "minimum share of the merged recordings with an operation in which a finding about it is a warning")

    package static let thresholds = [share, time, mainThreadTime, part, recordings]

    /// The minimum saving for an error: both a share of the run and a time, in nanoseconds.
    static let errorShare = 0.05
    static let errorTime = 10_000_000.0

    /// Whether a saving is worth a warning: 1 % of the scopes' time, or 2 ms, or 1 ms on the main thread.
    ///
    /// - Parameters:
    ///   - saving: In nanoseconds.
    ///   - wallTime: In nanoseconds, or 0 if unknown.
    package static func isMet(saving: Double, wallTime: UInt64, isMainThread: Bool) -> Bool {
        if saving >= time.value || (isMainThread && saving >= mainThreadTime.value) { return true }
        return wallTime > 0 && saving >= Double(wallTime) * share.value
    }

    /// The severity of a saving by its time alone.
    ///
    /// It is a warning from the minimum of ``isMet(saving:wallTime:isMainThread:)``, and an error from ten times 2 ms
    /// (1 ms on the main thread), whatever its share of a short run.
    ///
    /// - Parameters:
    ///   - saving: In nanoseconds.
    ///   - wallTime: In nanoseconds, or 0 if unknown.
    package static func severity(saving: Double, wallTime: UInt64, isMainThread: Bool) -> Severity {
        let floor = isMainThread ? mainThreadTime.value : time.value
        let part = wallTime > 0 ? Double(wallTime) * share.value : floor
        return Severity.of(saving, warning: min(floor, part), error: 10 * floor)
    }

    /// The sentence for a cost that is not yet worth a warning.
    package static var notProven: Wording { notProven(of: "the time that the work took") }

    package static func notProven(of time: String) -> Wording {
        "Cost not proven at this size: less than \(threshold: share) of \(time)."
    }

    /// The sentence for a saving that is not worth a warning.
    package static func tooLittle(
        _ saving: String = "The saving is", of work: String = "the time that the work took"
    ) -> Wording {
        "\(saving) below \(threshold: share) of \(work) and below \(threshold: time)"
    }

    /// Whether a part is more than half of a whole.
    package static func isMost(_ part: UInt64, of whole: UInt64) -> Bool { Double(part) * 2 > Double(whole) }

    /// Whether a part is at least half of a whole.
    package static func isAtLeastHalf(_ part: UInt64, of whole: UInt64) -> Bool { Double(part) * 2 >= Double(whole) }

    /// Whether a saving of round trips is worth a warning whatever time it saves: a fifth of all trips.
    ///
    /// A trip costs a microsecond while the pages are in memory, and a thousand times that when they are not. So the
    /// count is better evidence than the time of one run.
    package static func isMet(trips: Int64, of all: UInt64) -> Bool {
        trips > 0 && Double(trips) >= Double(all) * part.value
    }

    /// Whether a saving of rows is worth a warning whatever time it saves: a fifth of all loaded rows.
    package static func isMet(rows: Int64, of all: UInt64) -> Bool {
        rows > 0 && Double(rows) >= Double(all) * part.value
    }
}
