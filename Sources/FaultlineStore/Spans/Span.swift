import CSQLite
import FaultlineRecorder
import FaultlineTrace

/// An event that is measured by a span.
protocol SpanEvent {
    init()
    var error: UInt32 { get set }
    /// The code of a failure that is not SQLite's.
    static var failure: Int32 { get }
    /// Ends and records the event.
    func end(_ open: OpenEvent, _ statement: StatementRecord?, _ origin: TraceOrigin, in recorder: Recorder)
}

/// What a fetch, a batch, a fault or a save measures while it is recorded; where nothing is recorded, there is no span.
///
/// The work goes on in the same way with a span and without one, and tells it what it did: `span?.didLock()`.
final class Span<Event: SpanEvent> {
    let recorder: Recorder
    let origin: TraceOrigin
    /// `nil`: this measures a part of another span's event.
    private let open: OpenEvent?
    var event = Event()
    /// The one statement that did the event's work, if it was only one.
    var statement: StatementRecord?
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
    var part: Span { Span(nil, recorder, origin) }

    /// Changes the event.
    func update(_ body: (inout Event) -> Void) { body(&event) }

    /// To be called before a lock is asked for, and before other work that is measured by itself.
    func restart() { watch.restart() }

    /// How long the work since then took, in nanoseconds.
    func lap() -> UInt64 { watch.lap() }

    /// How long the work since then had taken at a time, both in nanoseconds.
    func lap(until time: UInt64) -> UInt64 { watch.lap(until: time) }

    /// Ends and records the event.
    ///
    /// - Parameter error: why the work failed; `nil`: it did not.
    func end(_ error: (any Error)? = nil) {
        guard let open else { return }
        guard let error else { return event.end(open, statement, origin, in: recorder) }
        let code = (error as? StoreError)?.sqliteCode ?? 0
        event.error = UInt32(bitPattern: code == 0 ? Event.failure : code)
        event.end(open, nil, origin, in: recorder)
    }

    /// Ends the event and records nothing.
    func cancel() {
        if let open { recorder.cancel(open) }
    }
}

extension Optional {
    /// Who asks; nobody that a trace shows where nothing is recorded.
    func origin<Event>() -> TraceOrigin where Wrapped == Span<Event> { self?.origin ?? TraceOrigin() }
}
