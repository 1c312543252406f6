internal import FaultlineTrace

/// The recent work of a thread in the store, and the waits for it whose cause is not yet known.
struct ThreadWork: Sendable {
    /// A wait that began while the thread owned the lock or the queue.
    struct Wait: Sendable {
        var wait: TraceEvent.Wait
        var site: CallSite?
        var scope: EventID
        var start: UInt64
        var end: UInt64
        var isMainThread: Bool
        /// Whether it was given up at once because the transaction had read before it wrote.
        var isUpgrade = false
        /// The library that ran the statement, if it failed.
        var library: StatementLibrary?
    }

    /// The number of intervals and waits to keep: at least a quarter of a second of intervals.
    static let capacity = 256

    private var intervals: [BusyInterval] = []
    private var waits: [Wait] = []

    /// Adds an event that is not part of another.
    mutating func add(_ event: TraceEvent, site: () -> CallSite?) {
        if let last = intervals.last, last.isContinued(by: event) {
            intervals[intervals.count - 1].add(event, site: site)
            return
        }
        if intervals.count == Self.capacity { intervals.removeFirst(Self.capacity / 2) }
        intervals.append(BusyInterval(event, site: site()))
    }

    /// Adds a wait, and returns the oldest wait if the table is full.
    mutating func add(_ wait: Wait) -> Wait? {
        waits.append(wait)
        return waits.count > Self.capacity ? waits.removeFirst() : nil
    }

    /// Removes and returns the waits that ended by `time`.
    ///
    /// The default removes all.
    mutating func takeWaits(until time: UInt64 = .max) -> [Wait] {
        guard !waits.isEmpty else { return [] }
        let over = waits.filter { $0.end <= time }
        waits.removeAll { $0.end <= time }
        return over
    }

    /// The time the thread spent in the store during a wait, in nanoseconds, and the interval with the largest share of
    /// it.
    func work(during wait: Wait) -> (time: UInt64, most: BusyInterval?) {
        var total = 0.0
        var most: (time: Double, interval: BusyInterval)?
        for interval in intervals where interval.start < wait.end && interval.end > wait.start {
            let common = Double(min(interval.end, wait.end)) - Double(max(interval.start, wait.start))
            guard common > 0 else { continue }
            let time = common * min(1, Double(interval.time) / Double(max(1, interval.end - interval.start)))
            total += time
            if time > most?.time ?? 0 { most = (time, interval) }
        }
        return (UInt64(total), most?.interval)
    }
}

/// A wait for a lock, and the save that held the lock for most of it.
struct BlockedSave: Sendable {
    var save: TraceEvent
    /// The line that saved, or `nil` if unknown.
    var site: CallSite?
    var wait: ThreadWork.Wait
    /// Whether events were lost during the wait.
    var isLossy: Bool
}

extension TraceEvent {
    /// The event's duration without its wait for SQLite's lock, which R13 evaluates, in nanoseconds.
    var timeWithoutLockWait: UInt64 {
        guard case .sql(let statement) = detail else { return duration }
        return duration - min(duration, statement.wait)
    }
}
