/// The cost of store operations on the machine where the trace was recorded, measured in a store of its own.
///
/// No event refers to it.
public struct CalibrationEntry: Sendable, Hashable, Codable {
    /// One trip.
    public struct Trip: Sendable, Hashable, Codable {
        public var rows: UInt64
        /// Bytes of the rows' values.
        public var bytes: UInt64
        /// In nanoseconds.
        public var duration: UInt64

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
        /// Counting a row, beside passing over it.
        case countedRow
        /// Adding up a number of a row, beside passing over it.
        case summedRow
        /// A row that is sorted, and then left out by a small limit.
        case sortedRow
        /// A row of a few short values that SQLite hands to the store.
        case loadedRow
        /// A byte of a long value in such a row.
        case loadedByte
        /// An object ID that the store returns.
        case identity
        /// A page of 4 KiB that SQLite reads from a file that the system has in memory.
        case page
    }

    public var trips: [Trip]
    /// What the steps take, in nanoseconds, by the names of ``Step``; `nil`: a recorder before there were any.
    public var steps: [String: Double]?

    public init(trips: [Trip], steps: [Step: Double] = [:]) {
        self.trips = trips
        self.steps = steps.isEmpty ? nil : Dictionary(uniqueKeysWithValues: steps.map { ($0.key.rawValue, $0.value) })
    }
}
