internal import FaultlineTrace

extension TraceEvent {
    /// The event's duration without its wait for SQLite's lock, which R13 evaluates, in nanoseconds.
    var timeWithoutLockWait: UInt64 {
        guard case .sql(let statement) = detail else { return duration }
        return duration - min(duration, statement.wait)
    }
}
