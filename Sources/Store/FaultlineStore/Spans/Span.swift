import CSQLite
import FaultlineRecorder
import FaultlineTrace

/// An event that a span measures.
protocol SpanEvent: EventRecord {
    init()
    var error: UInt32 { get set }
    /// The error code for failures that are not SQLite's.
    static var failure: Int32 { get }
}

/// Measures a fetch, a batch, a fault or a save while recording; otherwise there is no span.
///
/// The work is the same with and without a span, and reports its progress to it: `span?.didLock()`.
final class Span<Event: SpanEvent> {
    let recorder: Recorder
    let origin: TraceOrigin
    /// `nil` if the span measures a part of another span's event.
    private let open: OpenEvent?
    /// Whether the cost of recording the event is measured.
    private let isSampled: Bool
    var event = Event()
    /// The statement that did the event's work, if there was exactly one.
    var statement: StatementRecord?
    private var watch: Stopwatch
    /// The time that recording the event took so far, in nanoseconds, if it is sampled.
    private var cost: UInt64 = 0
    /// The time at which the description of the event began.
    private var describedAt: UInt64 = 0

    /// Begins a span.
    ///
    /// - Parameter open: The event, which ``end(_:)`` ends.
    init(_ open: OpenEvent?, _ recorder: Recorder, _ origin: TraceOrigin) {
        self.open = open
        self.recorder = recorder
        self.origin = origin
        watch = Stopwatch(recorder)
        isSampled = open?.isSampled == true
        if isSampled { cost = recorder.now() - start }
    }

    var id: EventID { open?.id ?? 0 }
    /// The time when the event began, in nanoseconds of `CLOCK_MONOTONIC`.
    var start: UInt64 { open?.start ?? 0 }

    /// A span for a part of the event, whose figures are added to the whole.
    var part: Span { Span(nil, recorder, origin) }

    /// Called when the work is done, and only its event remains to be described and recorded.
    func willDescribe() {
        if isSampled { describedAt = recorder.now() }
    }

    /// Runs a closure that only recording needs, during the work.
    func describe(_ body: (inout Event) -> Void) {
        guard isSampled else { return body(&event) }
        let start = recorder.now()
        body(&event)
        cost += recorder.now() - start
    }

    /// Changes the event.
    func update(_ body: (inout Event) -> Void) { body(&event) }

    /// Called before waiting for a lock, and before other work that is measured separately.
    func restart() {
        watch.restart()
        addReading()
    }

    /// The duration of the work since then, in nanoseconds.
    func lap() -> UInt64 {
        addReading()
        return watch.lap()
    }

    private func addReading() {
        if isSampled { cost += Recorder.clockCost }
    }

    /// The duration of the work from then until a time, in nanoseconds.
    func lap(until time: UInt64) -> UInt64 { watch.lap(until: time) }

    /// Ends and records the event.
    ///
    /// - Parameter error: The error if the work failed; otherwise `nil`.
    func end(_ error: (any Error)? = nil) {
        guard let open else { return }
        if let error {
            let code = (error as? StoreError)?.sqliteCode ?? 0
            event.error = UInt32(bitPattern: code == 0 ? Event.failure : code)
            statement = nil
        }
        recorder.end(
            open, event, statement: statement, context: origin.context, site: origin.site, described: describedAt,
            cost: cost)
    }

    /// Ends the event without recording it.
    func cancel() {
        if let open { recorder.cancel(open) }
    }
}

extension Optional {
    /// The origin of the work; empty while not recording.
    func origin<Event>() -> TraceOrigin where Wrapped == Span<Event> { self?.origin ?? TraceOrigin() }
}

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
