import CSQLite
import FaultlineRecorder
import FaultlineTrace

/// An event that reads from the store, with the durations of its phases.
protocol TripEvent: SpanEvent {
    var wait: UInt64 { get set }
    var prepare: UInt64 { get set }
    var step: UInt64 { get set }
}

extension TripEvent {
    static var failure: Int32 { SQLITE_ERROR }
}

extension Span where Event: TripEvent {
    /// Called when the connection has been acquired.
    func didLock() { event.wait += lap() }

    /// Called after the statement ran; the time before it was ready counts as preparation.
    func didRun(_ run: StatementRun) {
        statement = run.record
        guard let record = run.record else { return }
        event.prepare += lap(until: run.ready)
        event.step += record.duration
    }

    /// Leaves statements out of the event's record, because they are events of their own.
    func recordsNoStatement() { statement = nil }
}

typealias BatchSpan = Span<TraceEvent.Batch>

extension TraceEvent.Fetch: TripEvent {}

extension TraceEvent.Batch: TripEvent {}

extension TraceEvent.Fault: TripEvent {}
