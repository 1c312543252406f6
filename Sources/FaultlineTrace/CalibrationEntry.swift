/// What trips to a store cost on the machine where the trace was recorded, measured in a store of its own.
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

    public var trips: [Trip]

    public init(trips: [Trip]) {
        self.trips = trips
    }
}
