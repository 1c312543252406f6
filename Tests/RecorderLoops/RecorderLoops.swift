internal import CLTTngUST
internal import CRecorder
internal import CTraceSchema
public import FaultlineRecorder

/// The recorder's own work in loops, for the benchmarks: they are a package of their own, and see only public
/// declarations.
///
/// The events are waits, which have eight small fields and no list.
public struct RecorderLoops {
    private let recorder: Recorder

    /// - Parameter recorder: One that is on, except for ``sites(_:)``.
    public init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    /// Rounds that do nothing.
    @inline(never)
    public func empty(_ rounds: Int) {
        for round in 0..<rounds { pass(round) }
    }

    /// Rounds with an instrumented operation in each, as the store has them.
    @inline(never)
    public func sites(_ rounds: Int) {
        for round in 0..<rounds {
            let open = recorder.begin()
            pass(round)
            if let open { recorder.cancel(open) }
        }
    }

    /// Prevents a loop from being optimized away.
    @inline(never) @_optimize(none)
    private func pass(_ round: Int) {}

    /// Begins and ends events.
    ///
    /// - Parameter hasStack: Whether each has its call stack.
    @inline(never)
    public func events(_ count: Int, hasStack: Bool) {
        guard let handle = recorder.handle else { return }
        var open = fl_open()
        var fields = fl_wait()
        fields.isBlocking = 1
        var ending = fl_ending()
        ending.without_stack = !hasStack
        for number in 0..<count where fl_begin(handle, &open) {
            fields.tries = UInt32(truncatingIfNeeded: number)
            fl_end(handle, &open, .FL_EVENT_WAIT, &fields, &ending)
        }
    }

    /// Hands events to LTTng's tracepoint as a program in C would: it reads the clock before and after, and fills the event.
    ///
    /// - Returns: The number of events that a session took, which is 0 if LTTng could not be loaded.
    @inline(never)
    public static func tracepoints(_ count: Int) -> Int {
        var problem = [CChar](repeating: 0, count: 512)
        guard let tracer = fl_lttng_tracer(&problem, problem.count)?.pointee else { return 0 }
        var event = fl_event()
        event.header.kind = UInt8(fl_event_kind.FL_EVENT_WAIT.rawValue)
        event.fields.wait.isBlocking = 1
        var taken = 0
        for number in 0..<count where tracer.is_wanted(UInt32(event.header.kind)) {
            taken += 1
            event.header.id = UInt64(number)
            event.header.start = fl_now()
            event.fields.wait.tries = UInt32(truncatingIfNeeded: number)
            event.header.duration = fl_now() - event.header.start
            tracer.event(&event)
        }
        return taken
    }
}
