/// The cost of store operations on the machine that recorded the trace, measured in a separate store.
///
/// No event refers to it.
public struct CalibrationEntry: Sendable, Hashable, Codable {
    /// One measured trip.
    public struct Trip: Sendable, Hashable, Codable {
        /// The number of rows that the trip read.
        public var rows: UInt64
        /// Bytes of the rows' values.
        public var bytes: UInt64
        /// In nanoseconds.
        public var duration: UInt64

        /// Creates a measured trip.
        public init(rows: UInt64, bytes: UInt64, duration: UInt64) {
            self.rows = rows
            self.bytes = bytes
            self.duration = duration
        }
    }

    /// A basic step of SQLite's work or the store's.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// A row of a few short values that a full scan passes over, after comparing one number.
        case passedRow
        /// A byte of a long value in a row that a full scan passes over.
        case passedByte
        /// One more comparison of a number in such a row.
        case comparison
        /// Counting a row, in addition to passing over it.
        case countedRow
        /// Adding up a number of a row, in addition to passing over it.
        case summedRow
        /// Sorting a row that a small limit then drops.
        case sortedRow
        /// A row of a few short values that SQLite hands to the store.
        case loadedRow
        /// A byte of a long value in such a row.
        case loadedByte
        /// An object ID that the store returns.
        case identity
        /// A page of 4 KiB that SQLite reads from a file in the system's page cache.
        case page
    }

    /// The measured trips.
    public var trips: [Trip]
    /// The duration of each step in nanoseconds, by the names of ``Step``; `nil` if an older recorder wrote the trace.
    public var steps: [String: Double]?

    /// Creates an entry with the measured costs.
    public init(trips: [Trip], steps: [Step: Double] = [:]) {
        self.trips = trips
        self.steps = steps.isEmpty ? nil : Dictionary(uniqueKeysWithValues: steps.map { ($0.key.rawValue, $0.value) })
    }
}
