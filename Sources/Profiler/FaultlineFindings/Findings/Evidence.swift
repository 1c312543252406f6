/// A number that a finding is based on.
package struct Evidence: Sendable, Hashable {
    package enum Unit: String, Sendable, Hashable, CaseIterable {
        case count, rows, trips, bytes, nanoseconds
        /// From 0 to 1.
        case share
    }

    package var name: String
    package var value: Double
    package var unit: Unit

    package init(_ name: String, _ value: Double, _ unit: Unit) {
        self.name = name
        self.value = value
        self.unit = unit
    }

    package init(_ name: String, _ value: UInt64, _ unit: Unit) {
        self.init(name, Double(value), unit)
    }
}

/// The saving that is expected of a change.
package struct Saving: Sendable, Hashable {
    /// A time in nanoseconds, and the range that holds 80 % of its estimates.
    package struct Range: Sendable, Hashable {
        package var median: Double
        package var low: Double
        package var high: Double

        package static let none = Range(median: 0, low: 0, high: 0)

        package init(median: Double, low: Double, high: Double) {
            self.median = median
            self.low = low
            self.high = high
        }

        /// The relative error of times from a single run.
        ///
        /// Every range is at least this wide.
        private static let singleRunError = 0.15

        package init(_ range: (median: Double, low: Double, high: Double)) {
            let median = max(0, range.median)
            self.init(
                median: median, low: max(0, min(range.low, median * (1 - Self.singleRunError))),
                high: max(0, range.high, median * (1 + Self.singleRunError)))
        }

        /// Returns the range with all values limited to `limit`.
        package func limited(to limit: Double) -> Range {
            Range(median: min(median, limit), low: min(low, limit), high: min(high, limit))
        }
    }

    /// The time saved in the store over the whole trace.
    ///
    /// All findings together never save more time than was spent.
    package var time: Range = .none
    /// The saving of the change alone, if findings before this one claim the same time.
    ///
    /// `nil` if it equals ``time``.
    package var alone: Range?
    /// The numbers, as a report counts them, of the findings that save part of the same time or of the same waits.
    package var after: [Int] = []
    /// The reduction of the longest wait per screen, if the change is meant to shorten it.
    package var pause: Range?
    /// Round trips.
    ///
    /// A negative number is an additional cost.
    package var trips: Int64 = 0
    /// Rows that are no longer loaded.
    package var rows: Int64 = 0
    /// Bytes that are no longer read.
    package var bytes: Int64 = 0
    /// Bytes of peak memory that are no longer needed.
    package var memory: Int64 = 0

    package init(time: Range = .none, pause: Range? = nil) { (self.time, self.pause) = (time, pause) }
}
