internal import FaultlineTrace

/// Operations that repeat on one thread, and the time between them.
struct Repetition: Sendable {
    var executions: UInt64 = 0
    var rows: UInt64 = 0
    /// In nanoseconds.
    var time: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    /// The time between the operations that the thread did not spend in the store, in nanoseconds.
    var waiting: UInt64 = 0
    /// The lines that called the functions with the operations.
    var callers: [CallSite: UInt64] = [:]
    var speeds = Speeds()
    var start: UInt64 = 0
    var end: UInt64 = 0
    /// The thread's progress at the end of the last operation.
    var mark = ThreadMark()

    /// The pause that ends a unit of work outside any scope: nanoseconds outside the store, and a multiple of the
    /// operations' mean time.
    static let pause: UInt64 = 5_000_000
    private static let pauseFactor: UInt64 = 4
    /// The pause that ends a unit of work outside any scope in a program without an object store, in nanoseconds.
    ///
    /// A thread of a busy machine waits for a CPU for more than 10 ms, and a script computes between its statements.
    static let statementPause: UInt64 = 20_000_000
    /// The pause that ends a unit of work outside any scope for operations that repeat with the same values, in nanoseconds.
    static let longPause: UInt64 = 100_000_000

    /// The time from the first operation to the last, in nanoseconds.
    var wallTime: UInt64 { end > start ? end - start : 0 }

    /// The time since the last operation that the thread did not spend in the store, in nanoseconds.
    ///
    /// - Parameter now: The thread's progress.
    func waiting(before event: TraceEvent, _ now: ThreadMark) -> UInt64 {
        let (idle, store) = (event.start - end, now.storeTime &- mark.storeTime)
        return idle > store ? idle - store : 0
    }

    /// Whether an operation begins a new unit of work, outside any scope.
    func isOver(
        before event: TraceEvent, waiting: UInt64, pause: UInt64 = Repetition.pause, _ now: ThreadMark
    ) -> Bool {
        let isPause = waiting >= pause && waiting >= Self.pauseFactor * (time / executions)
        return event.scope == 0 && (isPause || now.scopes != mark.scopes)
    }

    mutating func add(_ event: TraceEvent, rows: UInt64, caller: CallSite?, mark: ThreadMark) {
        if executions == 0 { start = event.start }
        executions &+= 1
        self.rows &+= rows
        let worked = event.timeWithoutLockWait
        time &+= worked
        mainThreadTime &+= event.isMainThread ? worked : 0
        speeds.add(event.duration)
        if let caller { callers[caller, default: 0] &+= 1 }
        end = max(end, event.end)
        self.mark = mark
    }

    mutating func merge(_ other: Repetition) {
        executions &+= other.executions
        rows &+= other.rows
        time &+= other.time
        mainThreadTime &+= other.mainThreadTime
        waiting &+= other.waiting
        callers.merge(other.callers, uniquingKeysWith: &+)
        speeds.merge(other.speeds)
        start = min(start, other.start)
        end = max(end, other.end)
    }
}
