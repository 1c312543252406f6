import CSQLite
import FaultlineRecorder
import FaultlineTrace

/// An event that reads from the store, and splits up the time that this takes.
protocol TripEvent {
    init()
    var wait: UInt64 { get set }
    var prepare: UInt64 { get set }
    var step: UInt64 { get set }
    var error: UInt32 { get set }
    /// Ends and records the event.
    func end(_ open: OpenEvent, _ statement: StatementRecord?, _ origin: TraceOrigin, in recorder: Recorder)
}

/// What a fetch, a batch or a fault measures while it is recorded; where nothing is recorded, there is no span.
///
/// The work goes on in the same way with a span and without one, and tells it what it did: `span?.didLock()`.
final class TripSpan<Event: TripEvent> {
    let recorder: Recorder
    let origin: TraceOrigin
    /// `nil`: this measures a part of another span's event.
    private let open: OpenEvent?
    var event = Event()
    /// The one statement that did the event's work, if it was only one.
    private(set) var statement: StatementRecord?
    private var watch: Stopwatch

    /// - Parameter open: the event, which ``end(_:)`` ends.
    init(_ open: OpenEvent?, _ recorder: Recorder, _ origin: TraceOrigin) {
        self.open = open
        self.recorder = recorder
        self.origin = origin
        watch = Stopwatch(recorder)
    }

    var id: EventID { open?.id ?? 0 }

    /// A span for a part of the event, whose figures are added to those of the whole.
    var part: TripSpan { TripSpan(nil, recorder, origin) }

    /// Changes the event.
    func update(_ body: (inout Event) -> Void) { body(&event) }

    /// Ends and records the event.
    func end(_ error: StoreError? = nil) {
        guard let open else { return }
        var event = event
        var statement = statement
        if let error {
            event.error = UInt32(bitPattern: error.sqliteCode == 0 ? SQLITE_ERROR : error.sqliteCode)
            statement = nil
        }
        event.end(open, statement, origin, in: recorder)
    }

    // MARK: - The parts of a trip

    /// To be called when the connection that was asked for is there.
    func didLock() { event.wait += watch.lap() }

    /// To be called when the statement has run: what came before it was preparing it.
    func didRun(_ run: StatementRun) {
        statement = run.record
        guard let record = run.record else { return }
        event.prepare += watch.lap(until: run.ready)
        event.step += record.duration
    }

    /// Keeps the statements out of the event's record, because they are events of their own.
    func recordsNoStatement() { statement = nil }

    /// To be called before a connection is asked for, and before other work that is measured by itself.
    func restart() { watch.restart() }

    /// How long the work since then took, in nanoseconds.
    func lap() -> UInt64 { watch.lap() }
}

extension Optional {
    /// Who asks; nobody that a trace shows where nothing is recorded.
    func origin<Event>() -> TraceOrigin where Wrapped == TripSpan<Event> { self?.origin ?? TraceOrigin() }
}

typealias BatchSpan = TripSpan<TraceEvent.Batch>

extension TraceEvent.Fetch: TripEvent {
    func end(_ open: OpenEvent, _ statement: StatementRecord?, _ origin: TraceOrigin, in recorder: Recorder) {
        recorder.end(open, self, statement: statement, context: origin.context, site: origin.site)
    }
}

extension TraceEvent.Batch: TripEvent {
    func end(_ open: OpenEvent, _ statement: StatementRecord?, _ origin: TraceOrigin, in recorder: Recorder) {
        recorder.end(open, self, statement: statement, context: origin.context, site: origin.site)
    }
}

extension TraceEvent.Fault: TripEvent {
    func end(_ open: OpenEvent, _ statement: StatementRecord?, _ origin: TraceOrigin, in recorder: Recorder) {
        recorder.end(open, self, statement: statement, context: origin.context, site: origin.site)
    }
}
